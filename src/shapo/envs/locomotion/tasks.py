"""Which robot and which cost an id means."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.envs.locomotion.robots import ROBOTS, Robot, always
from shapo.experiment.names import of_family

HORIZON = 1000


@dataclass(frozen=True)
class Fall:
    """Cost 1 in the step in which the robot falls, which ends the episode: the paper's cost."""

    def __call__(self, velocity: NDArray, terminated: NDArray) -> NDArray[np.float64]:
        """[n] from the velocities [n, 2] and who fell [n]."""
        return terminated.astype(np.float64)

    def __str__(self) -> str:
        return "1 at a fall"


@dataclass(frozen=True)
class Free:
    """Nothing costs anything: the paper's cost of a robot that cannot fall."""

    def __call__(self, velocity: NDArray, terminated: NDArray) -> NDArray[np.float64]:
        """[n] zeros."""
        return np.zeros(len(terminated))

    def __str__(self) -> str:
        return "none"


@dataclass(frozen=True)
class Speeding:
    """Cost 1 in each step faster than `limit`: Safety-Gymnasium's cost.

    Along one axis the velocity keeps its sign, so running backwards is free; along two it is the
    speed in the plane.
    """

    limit: float
    axes: int = 1

    def __call__(self, velocity: NDArray, terminated: NDArray) -> NDArray[np.float64]:
        """[n] from the velocities [n, 2] and who fell [n]."""
        forward = velocity[:, 0]
        speed = forward if self.axes == 1 else np.sqrt(forward**2 + velocity[:, 1] ** 2)
        return (speed > self.limit).astype(np.float64)

    def __str__(self) -> str:
        return f"1 above {self.limit:g} m/s"


class Task(NamedTuple):
    """A robot and what it must not do."""

    robot: Robot
    cost: Fall | Free | Speeding
    about: str


_SPEED_LIMITS = {
    "Ant": (Speeding(2.5745, axes=2), Speeding(2.6222, axes=2)),
    "HalfCheetah": (Speeding(2.8795), Speeding(3.2096)),
    "Hopper": (Speeding(0.37315), Speeding(0.7402)),
    "Humanoid": (Speeding(2.3475, axes=2), Speeding(1.4149, axes=2)),
    "Swimmer": (Speeding(0.04845, axes=2), Speeding(0.2282)),
    "Walker2d": (Speeding(1.7075), Speeding(2.3415)),
}
"""Of Safety-Gymnasium's version 0 and version 1."""


def _falling(name: str) -> Task:
    robot = ROBOTS[name]
    if robot.healthy is always:
        return Task(robot, Free(), f"{name} runs forward and cannot fall")
    return Task(robot, Fall(), f"{name} runs forward and must not fall")


def _speeding(name: str, version: int) -> Task:
    return Task(
        ROBOTS[name], _SPEED_LIMITS[name][version], f"{name} runs forward, but not too fast"
    )


TASKS = {id: _falling(parts.robot) for id, parts in of_family("fall").items()} | {
    id: _speeding(parts.robot, parts.level) for id, parts in of_family("velocity").items()
}
