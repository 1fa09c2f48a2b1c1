"""The six robots as Gymnasium's v4 has them: model, what is seen, what pays, when it has fallen.

Nothing here needs MuJoCo, so that a list of tasks costs nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Healthy = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.bool_]]
"""(qpos [n, nq], qvel [n, nv]) -> [n] still on its feet."""


def always(qpos: NDArray, qvel: NDArray) -> NDArray[np.bool_]:
    """Healthy whatever happens: a robot that cannot fall."""
    return np.ones(len(qpos), bool)


def _ant(qpos: NDArray, qvel: NDArray) -> NDArray[np.bool_]:
    finite = np.isfinite(qpos).all(axis=1) & np.isfinite(qvel).all(axis=1)
    height = qpos[:, 2]
    return finite & (height >= 0.2) & (height <= 1.0)


def _hopper(qpos: NDArray, qvel: NDArray) -> NDArray[np.bool_]:
    calm = (np.abs(qpos[:, 2:]) < 100).all(axis=1) & (np.abs(qvel) < 100).all(axis=1)
    height = qpos[:, 1]
    return calm & (height > 0.7) & (height < np.inf) & (np.abs(qpos[:, 2]) < 0.2)


def _humanoid(qpos: NDArray, qvel: NDArray) -> NDArray[np.bool_]:
    height = qpos[:, 2]
    return (height > 1.0) & (height < 2.0)


def _walker(qpos: NDArray, qvel: NDArray) -> NDArray[np.bool_]:
    height = qpos[:, 1]
    return (height > 0.8) & (height < 2.0) & (np.abs(qpos[:, 2]) < 1.0)


@dataclass(frozen=True)
class Robot:
    """A robot and the task Gymnasium sets it: run forward, spend little, stay up."""

    xml: str
    """The model's file among Gymnasium's assets."""
    frame_skip: int
    """Physics steps per environment step."""
    observations: int
    actions: int
    hidden: int
    """Leading positions that are not observed, so that the task looks the same everywhere."""
    noise: float
    """Scale of the random start."""
    velocity_noise: Literal["uniform", "normal"]
    control_weight: float
    """Price of the squared action."""
    forward_weight: float = 1.0
    """Pay per metre and second forward."""
    alive_reward: float = 0.0
    """Pay per step."""
    healthy: Healthy = always
    """A robot that is not has fallen, and its episode ends."""
    velocity_bound: float = np.inf
    """Observed velocities are clipped here."""
    place: Literal["root", "torso", "mass"] = "root"
    """Whose displacement is the velocity: the root joints', the torso's, or the centre of mass's.
    The last two are what MuJoCo computed on the way, one physics step behind the joints."""
    senses: tuple[str, ...] = ()
    """Fields of MjData observed after positions and velocities."""


ROBOTS = {
    "Ant": Robot(
        xml="ant.xml",
        frame_skip=5,
        observations=27,
        actions=8,
        hidden=2,
        noise=0.1,
        velocity_noise="normal",
        control_weight=0.5,
        alive_reward=1.0,
        healthy=_ant,
        place="torso",
    ),
    "HalfCheetah": Robot(
        xml="half_cheetah.xml",
        frame_skip=5,
        observations=17,
        actions=6,
        hidden=1,
        noise=0.1,
        velocity_noise="normal",
        control_weight=0.1,
    ),
    "Hopper": Robot(
        xml="hopper.xml",
        frame_skip=4,
        observations=11,
        actions=3,
        hidden=1,
        noise=5e-3,
        velocity_noise="uniform",
        control_weight=1e-3,
        alive_reward=1.0,
        healthy=_hopper,
        velocity_bound=10.0,
    ),
    "Humanoid": Robot(
        xml="humanoid.xml",
        frame_skip=5,
        observations=376,
        actions=17,
        hidden=2,
        noise=1e-2,
        velocity_noise="uniform",
        control_weight=0.1,
        forward_weight=1.25,
        alive_reward=5.0,
        healthy=_humanoid,
        place="mass",
        senses=("cinert", "cvel", "qfrc_actuator", "cfrc_ext"),
    ),
    "Swimmer": Robot(
        xml="swimmer.xml",
        frame_skip=4,
        observations=8,
        actions=2,
        hidden=2,
        noise=0.1,
        velocity_noise="uniform",
        control_weight=1e-4,
    ),
    "Walker2d": Robot(
        xml="walker2d.xml",
        frame_skip=4,
        observations=17,
        actions=6,
        hidden=1,
        noise=5e-3,
        velocity_noise="uniform",
        control_weight=1e-3,
        alive_reward=1.0,
        healthy=_walker,
        velocity_bound=10.0,
    ),
}
