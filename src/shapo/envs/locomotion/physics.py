"""How the robots of a batch move: each is a row of MuJoCo's batch, stepped in this process's one thread."""

# MuJoCo's extension modules hide their names from a type checker.
# pyright: reportAttributeAccessIssue=false

from typing import Protocol

import mujoco
import numpy as np
from mujoco.batch import Batch
from numpy.typing import NDArray

from shapo.envs.locomotion.models import load
from shapo.envs.locomotion.robots import Robot

_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
_NEEDLESS = int(
    mujoco.mjtDisableBit.mjDSBL_ISLAND
    | mujoco.mjtDisableBit.mjDSBL_EQUALITY
    | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS
)
"""Searches that find nothing: a robot is a single island of constraints, without equalities or dry friction. Leaving
them out saves 7 to 9 % of a step and changes no bit."""
_TORSO = 1
"""The body that carries all others."""


class Physics(Protocol):
    """Moves the rows of a batch and says what was measured on the way."""

    sensed: NDArray[np.float64]
    """[n, senses]"""

    def step(self) -> None:
        """Advance every row by one environment step."""
        ...

    def forward(self, ids: NDArray[np.int32]) -> None:
        """Compute what follows from the positions and velocities of these rows, as after a reset."""
        ...

    def place(self) -> NDArray[np.float64]:
        """Where every robot is, [n, 2], a fresh array."""
        ...


def rows_of(robot: Robot, num_envs: int) -> Batch:
    """That many robots at the model's initial state."""
    model = load(robot.xml)
    model.opt.disableflags |= _NEEDLESS
    return Batch(model, num_envs, nthread=1)


def physics_of(robot: Robot, rows: Batch) -> Physics:
    """What moves this kind of robot."""
    return Sensing(robot, rows) if robot.senses else Moving(robot, rows)


class Moving:
    """Robots that observe no more than their positions and velocities."""

    def __init__(self, robot: Robot, rows: Batch) -> None:
        self._rows, self._skip = rows, robot.frame_skip
        at_torso = robot.place == "torso"
        self._place = rows.bind("xpos")[:, _TORSO, :2] if at_torso else rows.bind("qpos")[:, :2]
        self.sensed = np.zeros((rows.nsim, 0))

    def step(self) -> None:
        """All rows in one call."""
        self._rows.step(nstep=self._skip)

    def forward(self, ids: NDArray[np.int32]) -> None:
        """These rows in one call."""
        self._rows.forward(ids)

    def place(self) -> NDArray[np.float64]:
        """Of the root joints, or of the torso as MuJoCo computed it on the way."""
        return self._place.copy()


class Sensing:
    """The Humanoid, which also feels, and whose place is its centre of mass: one row after the other on one MjData.

    Contact forces on bodies are computed from what a step leaves behind in its MjData, and a batch keeps nothing of it.
    """

    def __init__(self, robot: Robot, rows: Batch) -> None:
        self._model, self._skip = rows.model, robot.frame_skip
        self._data = mujoco.MjData(rows.model)
        self._rows = list(rows.state)
        self._senses = [getattr(self._data, name).reshape(-1) for name in robot.senses]
        self.sensed = np.zeros((rows.nsim, sum(part.size for part in self._senses)))
        self._place = np.zeros((rows.nsim, 2))

    def step(self) -> None:
        """mj_step depends on nothing but the row, so one MjData serves all."""
        model, data = self._model, self._data
        for i, row in enumerate(self._rows):
            mujoco.mj_setState(model, data, row, _STATE)
            mujoco.mj_step(model, data, self._skip)
            mujoco.mj_getState(model, data, row, _STATE)
            mujoco.mj_rnePostConstraint(model, data)
            self._measure(i)

    def forward(self, ids: NDArray[np.int32]) -> None:
        """Nothing is felt before the first step, which is why the MjData is emptied."""
        model, data = self._model, self._data
        for i in ids:
            mujoco.mj_resetData(model, data)
            mujoco.mj_setState(model, data, self._rows[i], _STATE)
            mujoco.mj_forward(model, data)
            mujoco.mj_getState(model, data, self._rows[i], _STATE)
            self._measure(i)

    def place(self) -> NDArray[np.float64]:
        """Of the centre of mass, as MuJoCo computed it on the way."""
        return self._place.copy()

    def _measure(self, i: int) -> None:
        mass = self._model.body_mass
        self._place[i] = (np.einsum("b,bj->j", mass, self._data.xipos) / mass.sum())[:2]
        np.concatenate(self._senses, out=self.sensed[i])
