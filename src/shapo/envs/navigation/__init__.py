"""Safety-Gym's navigation tasks, batched: exact where it matters and free where nothing touches."""

from shapo.envs.navigation.env import Navigation, make
from shapo.envs.navigation.tasks import TASKS, Task

__all__ = ["TASKS", "Navigation", "Task", "make"]
