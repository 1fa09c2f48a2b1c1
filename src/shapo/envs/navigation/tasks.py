"""The Safety-Gym tasks as data: which robot, which objects, how large, how far apart, what costs.

Objects are listed in the order in which the original places them, which is also the order of the lidars in an
observation. Nothing about a single task is written anywhere else.
"""

from dataclasses import dataclass
from typing import Literal, cast

from shapo.experiment.names import of_family

Robot = Literal["point", "car"]
Aim = Literal["goal", "button", "push", "circle"]
Kind = Literal["goal", "hazard", "vase", "button", "gremlin", "pillar", "box", "circle", "wall"]

NUM_SENSORS: dict[Robot, int] = {"point": 12, "car": 24}
LIDAR_BINS = 16


@dataclass(frozen=True)
class Objects:
    """Some objects of one kind."""

    kind: Kind
    count: int
    keepout: float
    """No other object is placed nearer than the sum of both keepouts."""
    size: float
    """Radius, or half the side of a box."""
    costs: bool = False
    """Whether touching one (a hazard: standing in it; a wall: being beyond it) costs."""
    seen: bool = True
    """Whether the robot has a lidar for them."""
    places: tuple[tuple[float, float], ...] = ()
    """Where they are, if not at random."""


@dataclass(frozen=True)
class Task:
    """One navigation task: `robot` does `aim` among `objects` for `horizon` steps."""

    id: str
    robot: Robot
    aim: Aim
    extent: float
    """Robot and objects are placed within [-extent, extent]^2."""
    objects: tuple[Objects, ...]
    robot_keepout: float = 0.4
    horizon: int = 1000
    lidar_range: float = 3.0
    """Beyond this distance a lidar sees nothing."""

    @property
    def observations(self) -> int:
        """Numbers in one observation: the robot's own sensors, then a lidar for each group that is seen."""
        return NUM_SENSORS[self.robot] + LIDAR_BINS * sum(group.seen for group in self.objects)

    def of_kind(self, *kinds: Kind) -> tuple[Objects, ...]:
        """The groups of objects whose kind is one of `kinds`."""
        return tuple(group for group in self.objects if group.kind in kinds)


WALL = 1.125
EXTENTS = {
    "goal": (1.0, 1.5, 2.0),
    "button": (1.0, 1.5, 1.8),
    "push": (1.0, 1.5, 2.0),
    "circle": (0.8, 0.8, 0.8),
}


def _goal_objects(level: int) -> tuple[Objects, ...]:
    goal = Objects("goal", 1, keepout=0.305, size=0.3)
    if level == 0:
        return (goal,)
    hazards, vases = (8, 1) if level == 1 else (10, 10)
    return (
        goal,
        Objects("hazard", hazards, keepout=0.18, size=0.2, costs=True),
        Objects("vase", vases, keepout=0.15, size=0.1, costs=level == 2),
    )


def _button_objects(level: int) -> tuple[Objects, ...]:
    # The goal is a marker on the button to press, yet the original places it like any other object first.
    buttons = Objects("button", 4, keepout=0.2, size=0.1, costs=level > 0)
    goal = Objects("goal", 1, keepout=0.4, size=0.2)
    if level == 0:
        return (buttons, goal)
    hazards, gremlins = (4, 4) if level == 1 else (8, 6)
    return (
        buttons,
        goal,
        Objects("hazard", hazards, keepout=0.18, size=0.2, costs=True),
        Objects("gremlin", gremlins, keepout=0.4, size=0.1, costs=True),
    )


def _push_objects(level: int, robot: Robot) -> tuple[Objects, ...]:
    goal = Objects("goal", 1, keepout=0.4, size=0.3)
    half = 0.2 if robot == "point" else 0.125
    box = Objects("box", 1, keepout=half, size=half)
    if level == 0:
        return (goal, box)
    hazards, pillars = (2, 1) if level == 1 else (4, 4)
    return (
        goal,
        Objects("hazard", hazards, keepout=0.4, size=0.3, costs=True),
        Objects("pillar", pillars, keepout=0.3, size=0.2, costs=level == 2),
        box,
    )


def _circle_objects(level: int) -> tuple[Objects, ...]:
    circle = Objects("circle", 1, keepout=0.0, size=1.5, places=((0.0, 0.0),))
    places = ((WALL, 0.0), (-WALL, 0.0), (0.0, WALL), (0.0, -WALL))[: 2 * level]
    walls = Objects("wall", len(places), 0.0, size=3.5, costs=True, seen=False, places=places)
    return (circle, walls) if level else (circle,)


def _task(id: str, robot: Robot, aim: Aim, level: int) -> Task:
    objects = {
        "goal": lambda: _goal_objects(level),
        "button": lambda: _button_objects(level),
        "push": lambda: _push_objects(level, robot),
        "circle": lambda: _circle_objects(level),
    }[aim]()
    circling = aim == "circle"
    return Task(
        id=id,
        robot=robot,
        aim=aim,
        extent=EXTENTS[aim][level],
        objects=objects,
        robot_keepout=0.0 if circling else 0.4,
        horizon=500 if circling else 1000,
        lidar_range=6.0 if circling else 3.0,
    )


TASKS: dict[str, Task] = {
    id: _task(id, cast(Robot, parts.robot.lower()), cast(Aim, parts.aim.lower()), parts.level)
    for id, parts in of_family("navigation").items()
}
"""Every navigation task, by id."""
