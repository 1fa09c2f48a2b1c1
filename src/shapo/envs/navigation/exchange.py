"""Arrays to MuJoCo's memory and back, compiled.

A body that MuJoCo has stepped is judged on the way back: an untouched one is still on its course, one that stopped is
at rest, any other stays loose.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shapo.envs.navigation.models import GREMLIN_FLIGHT
from shapo.envs.navigation.state import LOOSE, ON_COURSE, RESTING

AT_REST = 1e-8  # m/s and rad/s: slower than that a body stays where it is
BACK_ON_COURSE = 1e-9  # m and m/s
FLOOR, ROBOT, FIRST_PART = 0, 1, 2  # what a geom belongs to; then come solids, then bodies


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
def load(rules, state, i, action, chosen, buffers):
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
def aim(state, i, chosen, swing, first, buffers):
    """Pull the gremlins in `chosen` to where they should be after one substep."""
    for k, b in enumerate(chosen):
        buffers.mocap_pos[first + k, 0] = state.body_start[i, b, 0] + swing[0]
        buffers.mocap_pos[first + k, 1] = state.body_start[i, b, 1] + swing[1]


@njit(cache=True, nogil=True)
def _at_rest(rules, before, q, v):
    """Whether a body neither moves nor has moved in this step."""
    speed, shift = 0.0, 0.0
    for k in range(6):
        speed = max(speed, abs(v[k]))
    for k in range(7):
        shift = max(shift, abs(q[k] - before[k]))
    return speed <= AT_REST and shift <= AT_REST * rules.step_time


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
def _store_body(rules, state, i, b, qpos, qvel):
    still = _at_rest(rules, state.body_q[i, b], qpos, qvel)
    untouched = state.status[i, b] == ON_COURSE
    state.body_q[i, b] = qpos[:7]
    state.body_v[i, b] = qvel[:6]
    if rules.everything:
        state.status[i, b] = LOOSE
    elif (rules.gremlins or untouched) and _on_course(rules, state, i, b):
        state.status[i, b] = ON_COURSE
    elif still and not rules.gremlins:
        state.status[i, b] = RESTING
        state.body_v[i, b] = 0.0
    else:
        state.status[i, b] = LOOSE


@njit(cache=True, nogil=True)
def store(rules, state, i, chosen, buffers, owners, contacts, touching):
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
        _store_body(rules, state, i, b, buffers.qpos[nq + 7 * k :], buffers.qvel[nv + 6 * k :])
    for c in range(len(contacts)):
        first, second = owners[contacts[c, 0]], owners[contacts[c, 1]]
        other = max(first, second)
        if min(first, second) == ROBOT and other > ROBOT:
            part = other - FIRST_PART
            if part < rules.num_solids:
                touching[i, rules.first_solid + part] = True
            else:
                touching[i, rules.first_body + chosen[part - rules.num_solids]] = True
