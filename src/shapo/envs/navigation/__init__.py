"""Safety-Gym's navigation tasks, batched: MuJoCo steps what could touch something, formulas step the rest."""

from typing import TYPE_CHECKING, Literal

from shapo.envs.navigation.tasks import TASKS, Task
from shapo.words import BadInput, nearest

if TYPE_CHECKING:
    from shapo.envs.navigation.env import Navigation

__all__ = ["TASKS", "Task", "make"]


def make(
    id: str, num_envs: int, seed: int = 0, physics: Literal["hybrid", "mujoco"] = "hybrid"
) -> "Navigation":
    """The navigation task called `id`."""
    # Imported here because it loads a compiler, which nobody needs who only wants the tasks' names.
    from shapo.envs.navigation.env import Navigation

    if id not in TASKS:
        raise BadInput(f"unknown navigation task {id!r}{nearest(id, TASKS)}")
    return Navigation(TASKS[id], num_envs, seed, physics)
