"""MuJoCo's robots that walk, hop and swim: Gymnasium's v4, step for step, with a cost.

The cost is a fall, as in the SHAPO paper, or too much speed, as in Safety-Gymnasium.
"""

from shapo.envs.locomotion.tasks import TASKS, Fall, Free, Speeding, Task

__all__ = ["TASKS", "Fall", "Free", "Speeding", "Task"]
