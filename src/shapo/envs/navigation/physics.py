"""The MuJoCo side: one environment's arrays in, ten substeps, the arrays out.

An environment is written into the MjData of a model with just the bodies that matter, stepped, and read back. Nothing
is left behind: solver warm starts are cleared, so a step depends on the arrays alone and not on who was here before.
"""

import math
from typing import NamedTuple

import mujoco
import numpy as np
from numba import njit
from numpy.typing import NDArray

from shapo.envs.navigation.models import (
    ROBOT_SIZES,
    SUBSTEP,
    SUBSTEPS,
    bodies_of,
    make_model,
    solids_of,
)
from shapo.envs.navigation.state import LOOSE, ON_COURSE, RESTING, Rules, State
from shapo.envs.navigation.tasks import Task

GREMLIN_TRAVEL = 0.35
GREMLIN_FLIGHT = 0.2  # height that gremlins are pulled to
AT_REST = 1e-8  # m/s and rad/s; slower than that a body stays where it is
BACK_ON_COURSE = 1e-9  # m, m/s
_FLOOR, _ROBOT, _FIRST_PART = 0, 1, 2  # what a geom belongs to; then solids, then bodies


class Buffers(NamedTuple):
    """MjData's own memory, as arrays."""

    qpos: NDArray[np.float64]
    qvel: NDArray[np.float64]
    ctrl: NDArray[np.float64]
    warmstart: NDArray[np.float64]
    mocap_pos: NDArray[np.float64]
    mocap_quat: NDArray[np.float64]
    sensordata: NDArray[np.float64]


@njit(cache=True, nogil=True)
def _load(rules, state, i, action, chosen, buffers):
    """Write environment i, with the bodies in `chosen`, into MuJoCo's memory."""
    nq, nv = state.robot_q.shape[1], state.robot_v.shape[1]
    buffers.warmstart[:] = 0.0
    for k in range(len(action)):
        buffers.ctrl[k] = min(1.0, max(-1.0, action[k]))
    buffers.qpos[:nq] = state.robot_q[i]
    buffers.qvel[:nv] = state.robot_v[i]
    for s in range(rules.num_solids):
        j = rules.first_solid + s
        buffers.mocap_pos[s, :2] = state.spots[i, j]
        buffers.mocap_pos[s, 2] = 0.1 if rules.gremlins or rules.num_bodies == 0 else 0.5
    for k, b in enumerate(chosen):
        buffers.qpos[nq + 7 * k : nq + 7 * k + 7] = state.body_q[i, b]
        buffers.qvel[nv + 6 * k : nv + 6 * k + 6] = state.body_v[i, b]
        if rules.gremlins:
            half = 0.5 * state.turns[i, rules.first_body + b]
            target = buffers.mocap_quat[rules.num_solids + k]
            target[0], target[1], target[2], target[3] = math.cos(half), 0.0, 0.0, math.sin(half)
            buffers.mocap_pos[rules.num_solids + k, 2] = GREMLIN_FLIGHT


@njit(cache=True, nogil=True)
def _aim(state, i, chosen, swing, first, buffers):
    """Pull the gremlins in `chosen` to where they should be after one substep."""
    for k, b in enumerate(chosen):
        buffers.mocap_pos[first + k, 0] = state.body_start[i, b, 0] + swing[0]
        buffers.mocap_pos[first + k, 1] = state.body_start[i, b, 1] + swing[1]


@njit(cache=True, nogil=True)
def _within(values, limit):
    for x in values:
        if abs(x) > limit:
            return False
    return True


@njit(cache=True, nogil=True)
def _on_course(rules, state, i, b):
    """Whether body b is where it would be untouched; if so it is put there exactly."""
    row = rules.course[state.steps[i] + 1]
    q, v, start = state.body_q[i, b], state.body_v[i, b], state.body_start[i, b]
    half = 0.5 * state.turns[i, rules.first_body + b]
    w, z = math.cos(half), math.sin(half)
    sign = 1.0 if q[3] * w + q[6] * z > 0 else -1.0
    error = max(
        abs(q[0] - start[0] - row[0]), abs(q[1] - start[1] - row[1]),
        abs(q[2] - rules.body_height - row[2]),
        abs(q[3] - sign * w), abs(q[4]), abs(q[5]), abs(q[6] - sign * z),
        abs(v[0] - row[3]), abs(v[1] - row[4]), abs(v[2] - row[5]),
        abs(v[3]), abs(v[4]), abs(v[5]),
    )  # fmt: skip
    if error > BACK_ON_COURSE:
        return False
    q[0], q[1], q[2] = start[0] + row[0], start[1] + row[1], rules.body_height + row[2]
    q[3], q[4], q[5], q[6] = w, 0.0, 0.0, z
    v[:3], v[3:] = row[3:], 0.0
    return True


@njit(cache=True, nogil=True)
def _store(rules, state, i, chosen, buffers, owners, contacts, touching):
    """Read environment i back, and what its robot touches."""
    nq, nv = state.robot_q.shape[1], state.robot_v.shape[1]
    state.robot_q[i] = buffers.qpos[:nq]
    state.robot_v[i] = buffers.qvel[:nv]
    data, sensors = buffers.sensordata, state.sensors[i]
    if len(sensors) == len(data):
        sensors[:] = data
    else:
        sensors[:15] = data[:15]
        w, x, y, z = data[15], data[16], data[17], data[18]
        sensors[15:18] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
        sensors[18:21] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
        sensors[21:24] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    for k, b in enumerate(chosen):
        state.body_q[i, b] = buffers.qpos[nq + 7 * k : nq + 7 * k + 7]
        state.body_v[i, b] = buffers.qvel[nv + 6 * k : nv + 6 * k + 6]
        if rules.everything:
            state.status[i, b] = LOOSE
        elif (rules.gremlins or state.status[i, b] == ON_COURSE) and _on_course(rules, state, i, b):
            state.status[i, b] = ON_COURSE
        elif not rules.gremlins and _within(state.body_v[i, b], AT_REST):
            state.status[i, b] = RESTING
        else:
            state.status[i, b] = LOOSE
    for c in range(len(contacts)):
        first, second = owners[contacts[c, 0]], owners[contacts[c, 1]]
        other = max(first, second)
        if min(first, second) == _ROBOT and other > _ROBOT:
            part = other - _FIRST_PART
            if part < rules.num_solids:
                touching[i, rules.first_solid + part] = True
            else:
                touching[i, rules.first_body + chosen[part - rules.num_solids]] = True


class _Workspace:
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
    owner = {0: _FLOOR, robot: _ROBOT}
    owner |= {r: _FIRST_PART + k for k, r in enumerate(solids + bodies)}
    return np.array([owner[int(r)] for r in root], np.int64)


class Physics:
    """Steps single environments of a task in MuJoCo."""

    def __init__(self, task: Task):
        bodies, solids = bodies_of(task), solids_of(task)
        self._task = task
        self._workspaces: dict[int, _Workspace] = {}
        self._first_target = solids.count if solids else 0
        self._swing = None
        if bodies and bodies.kind == "gremlin":
            self._swing = gremlin_swing(task)

    def workspace(self, bodies: int) -> _Workspace:
        """The workspace for so many bodies."""
        if bodies not in self._workspaces:
            self._workspaces[bodies] = _Workspace(self._task, bodies)
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
        _load(rules, state, i, action, chosen, buffers)
        if self._swing is None or len(chosen) == 0:
            mujoco.mj_step(model, data, SUBSTEPS)
        else:
            first = SUBSTEPS * int(state.steps[i])
            for k in range(first, first + SUBSTEPS):
                _aim(state, i, chosen, self._swing[k], self._first_target, buffers)
                mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        _store(rules, state, i, chosen, buffers, work.owners, data.contact.geom, touching)


def gremlin_swing(task: Task) -> NDArray[np.float64]:
    """[horizon x substeps, 2] where gremlins are pulled to, relative to their start, before each substep."""
    # MuJoCo's clock adds up substeps; a product would round differently.
    ticks = np.full(task.horizon * SUBSTEPS, SUBSTEP[task.robot])
    time = np.concatenate([[0.0], np.cumsum(ticks)[:-1]])
    return GREMLIN_TRAVEL * np.stack([np.sin(time), np.cos(time)], axis=1)


def robot_sizes(task: Task) -> tuple[int, int]:
    """How many positions and velocities the robot has."""
    return ROBOT_SIZES[task.robot]
