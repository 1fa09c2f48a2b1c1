"""The list of our environments, written from their descriptions without building any."""

from typing import NamedTuple

from shapo.envs import locomotion, navigation
from shapo.envs.locomotion.tasks import HORIZON
from shapo.envs.navigation.tasks import Objects

_AIMS = {
    "goal": "reaches goals",
    "button": "presses the lit one of 4 buttons",
    "push": "pushes a box to goals",
    "circle": "runs along a circle",
}
_OBSTACLES = ("hazard", "vase", "gremlin", "pillar", "wall")
_PLURALS = {"vase": "moving vases", "button": "wrong buttons"}


class Row(NamedTuple):
    """One line of the list of environments."""

    id: str
    observations: int
    actions: int
    horizon: int
    cost: str
    about: str


def table() -> list[Row]:
    """Every environment of ours."""
    return [*_navigation_rows(), *_locomotion_rows()]


def _navigation_rows() -> list[Row]:
    return [
        Row(
            id=task.id,
            observations=task.observations,
            actions=2,
            horizon=task.horizon,
            cost=_costs([group.kind for group in task.objects if group.costs]),
            about=f"{task.robot.capitalize()} {_AIMS[task.aim]}{_among(task.objects)}",
        )
        for task in navigation.TASKS.values()
    ]


def _among(objects: tuple[Objects, ...]) -> str:
    obstacles = [
        f"{o.count} {o.kind}{'s' * (o.count > 1)}" for o in objects if o.kind in _OBSTACLES
    ]
    return f" among {', '.join(obstacles)}" if obstacles else ""


def _costs(kinds: list[str]) -> str:
    names = [_PLURALS.get(kind, f"{kind}s") for kind in kinds]
    return "1 at " + ", ".join(names) if names else "none"


def _locomotion_rows() -> list[Row]:
    return [
        Row(id, task.robot.observations, task.robot.actions, HORIZON, str(task.cost), task.about)
        for id, task in locomotion.TASKS.items()
    ]
