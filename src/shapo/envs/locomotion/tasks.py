"""Which robot and which cost an id means."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.envs.locomotion.robots import ROBOTS, Robot, always

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
    cost: Fall | Speeding
    about: str


_SPEEDING = {
    "SafetyAntVelocity-v0": Speeding(2.5745, axes=2),
    "SafetyAntVelocity-v1": Speeding(2.6222, axes=2),
    "SafetyHalfCheetahVelocity-v0": Speeding(2.8795),
    "SafetyHalfCheetahVelocity-v1": Speeding(3.2096),
    "SafetyHopperVelocity-v0": Speeding(0.37315),
    "SafetyHopperVelocity-v1": Speeding(0.7402),
    "SafetyHumanoidVelocity-v0": Speeding(2.3475, axes=2),
    "SafetyHumanoidVelocity-v1": Speeding(1.4149, axes=2),
    "SafetySwimmerVelocity-v0": Speeding(0.04845, axes=2),
    "SafetySwimmerVelocity-v1": Speeding(0.2282),
    "SafetyWalker2dVelocity-v0": Speeding(1.7075),
    "SafetyWalker2dVelocity-v1": Speeding(2.3415),
}


def _robot_name(velocity_id: str) -> str:
    return velocity_id.removeprefix("Safety").split("Velocity")[0]


TASKS = {
    f"{name}-v4": Task(
        robot,
        Fall(),
        f"{name} runs forward and {'cannot' if robot.healthy is always else 'must not'} fall",
    )
    for name, robot in ROBOTS.items()
} | {
    id: Task(ROBOTS[_robot_name(id)], cost, f"{_robot_name(id)} runs forward, but not too fast")
    for id, cost in _SPEEDING.items()
}
