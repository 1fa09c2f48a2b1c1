"""The names of our environments and rules, each written once, and the other names that one may go by."""

from typing import Literal, NamedTuple

GradientRule = Literal["plain", "sam", "shapo"]
CriticRule = Literal["plain", "sam"]
ValueRule = Literal["mean", "ensemble", "wcpg"]
Projection = Literal["kl", "l2"]
CostSignal = Literal["own"]
ScheduleRule = Literal["fixed", "alpha", "effective-alpha", "decay"]

Family = Literal["navigation", "fall", "velocity"]


class Id(NamedTuple):
    """What the name of an environment says."""

    family: Family
    """A Safety-Gym task; a robot that must not fall (the paper's); one that must not run too fast."""
    robot: str
    aim: str
    level: int
    """How difficult a navigation task is; otherwise the version."""


_NAVIGATION = [
    Id("navigation", robot, aim, level)
    for robot in ("Point", "Car")
    for aim in ("Goal", "Button", "Push", "Circle")
    for level in (0, 1, 2)
]
_WALKERS = ("Ant", "HalfCheetah", "Hopper", "Humanoid", "Swimmer", "Walker2d")

IDS: dict[str, Id] = (
    {f"Safety{each.robot}{each.aim}{each.level}-v0": each for each in _NAVIGATION}
    | {f"{robot}-v4": Id("fall", robot, "Run", 4) for robot in _WALKERS}
    | {
        f"Safety{robot}Velocity-v{version}": Id("velocity", robot, "Velocity", version)
        for robot in _WALKERS
        for version in (0, 1)
    }
)
"""Every environment of ours."""


def of_family(family: Family) -> dict[str, Id]:
    """The environments of one family."""
    return {id: parts for id, parts in IDS.items() if parts.family == family}


def canonical(id: str) -> str:
    """The one name of an environment of ours, which may go by OpenAI's or Gymnasium's; any other id as it is."""
    short = id.removeprefix("shapo/").removeprefix("Safexp-")
    return next((name for name in (short, f"Safety{short}") if name in IDS), id)
