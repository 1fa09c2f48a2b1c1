"""The MuJoCo side: one environment's arrays in, ten substeps, the arrays out.

An environment is written into the MjData of a model with just the bodies that matter, stepped, and read back. Nothing
is left behind: solver warm starts are cleared, so a step depends on the arrays alone and not on who was here before.
"""

# MuJoCo's extension modules hide their names from a type checker.
# pyright: reportAttributeAccessIssue=false

import mujoco
import numpy as np
from numpy.typing import NDArray

from shapo.envs.navigation.course import gremlin_swing
from shapo.envs.navigation.exchange import (
    FIRST_PART,
    FLOOR,
    ROBOT,
    Buffers,
    aim,
    load,
    read_sensors,
    store,
)
from shapo.envs.navigation.models import SUBSTEPS, bodies_of, make_model, solids_of
from shapo.envs.navigation.rules import Rules
from shapo.envs.navigation.state import State
from shapo.envs.navigation.tasks import Task


class Workspace:
    """A model with a given number of bodies, and the memory to step it in."""

    def __init__(self, task: Task, bodies: int):
        self.model = make_model(task, bodies)
        self.data = data = mujoco.MjData(self.model)
        self.buffers = Buffers(
            data.qpos, data.qvel, data.ctrl, data.qacc_warmstart, data.mocap_pos, data.mocap_quat, data.sensordata
        )  # fmt: skip
        self.owners = _geom_owners(self.model)


def _geom_owners(model: mujoco.MjModel) -> NDArray[np.int64]:
    root = model.body_rootid[model.geom_bodyid]
    roots = [int(r) for r in dict.fromkeys(root.tolist())]
    robot = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, "robot")
    parts = [r for r in roots if r not in (0, robot)]
    solids = [r for r in parts if model.body_mocapid[r] >= 0]
    bodies = [r for r in parts if model.body_mocapid[r] < 0]
    owner = {0: FLOOR, robot: ROBOT}
    owner |= {r: FIRST_PART + k for k, r in enumerate(solids + bodies)}
    return np.array([owner[int(r)] for r in root], np.int64)


class Physics:
    """Steps single environments of a task in MuJoCo."""

    def __init__(self, task: Task):
        bodies, solids = bodies_of(task), solids_of(task)
        self._task = task
        self._workspaces: dict[int, Workspace] = {}
        self._first_target = solids.count if solids else 0
        self._swing = None
        if bodies and bodies.kind == "gremlin":
            self._swing = gremlin_swing(task)

    def workspace(self, bodies: int) -> Workspace:
        """The workspace for so many bodies."""
        if bodies not in self._workspaces:
            self._workspaces[bodies] = Workspace(self._task, bodies)
        return self._workspaces[bodies]

    def step(
        self,
        rules: Rules,
        state: State,
        i: int,
        action: NDArray[np.float64],
        matters: NDArray[np.bool_],
        touching: NDArray[np.bool_],
    ) -> None:
        """One environment step of environment i, with the bodies that matter."""
        chosen = np.flatnonzero(matters)
        work = self.workspace(len(chosen))
        model, data, buffers = work.model, work.data, work.buffers
        load(rules, state, i, action, chosen, buffers)
        if self._swing is None or len(chosen) == 0:
            mujoco.mj_step(model, data, SUBSTEPS)
        else:
            first = SUBSTEPS * int(state.steps[i])
            starts, targets = state.body_start[i], buffers.mocap_pos[self._first_target :]
            for k in range(first, first + SUBSTEPS):
                aim(starts, chosen, self._swing[k], targets)
                mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        # A copy, because the original's memory layout, and with it the type, varies.
        contacts = data.contact.geom.copy()
        store(rules, state, i, chosen, buffers, work.owners, contacts, touching)

    def sense(self, rules: Rules, state: State, i: int) -> None:
        """What the robot of environment i senses where it stands, with nothing else around."""
        work = self.workspace(0)
        load(rules, state, i, np.zeros(2), np.zeros(0, np.int64), work.buffers)
        mujoco.mj_forward(work.model, work.data)
        read_sensors(work.buffers.sensordata, state.sensors[i])
