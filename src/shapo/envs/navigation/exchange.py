"""Arrays to MuJoCo's memory and back, compiled.

A body that MuJoCo has stepped is judged on the way back: an untouched one is still on its course, one that stopped and
touches nothing but the floor is at rest, any other stays loose. Bodies that lean on each other rock on for long, and
where one of them stops is not for it alone to say.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.envs.navigation.compiled import copy, entry, fill, inner
from shapo.envs.navigation.rotations import rotation
from shapo.envs.navigation.state import LOOSE, ON_COURSE, RESTING

SLOW = 5e-9  # m/s and rad/s: a body that is slower is stopped; half of the error that is allowed
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


@entry
def load(rules, state, i, action, chosen, buffers):
    """Write environment i, with the bodies in `chosen`, into MuJoCo's memory."""
    nq, nv = state.robot_q.shape[1], state.robot_v.shape[1]
    fill(0.0, buffers.warmstart)
    for k in range(len(action)):
        buffers.ctrl[k] = min(1.0, max(-1.0, action[k]))
    copy(state.robot_q[i], buffers.qpos[:nq])
    copy(state.robot_v[i], buffers.qvel[:nv])
    for s in range(rules.num_solids):
        copy(state.spots[i, rules.first_solid + s], buffers.mocap_pos[s, :2])
    for k, b in enumerate(chosen):
        copy(state.body_q[i, b], buffers.qpos[nq + 7 * k : nq + 7 * k + 7])
        copy(state.body_v[i, b], buffers.qvel[nv + 6 * k : nv + 6 * k + 6])
        if rules.gremlins:
            half = 0.5 * state.turns[i, rules.first_body + b]
            target = buffers.mocap_quat[rules.num_solids + k]
            target[0], target[3] = math.cos(half), math.sin(half)


@entry
def aim(starts, chosen, swing, targets):
    """Pull the gremlins in `chosen` to where they should be after one substep."""
    for k, b in enumerate(chosen):
        targets[k, 0] = starts[b, 0] + swing[0]
        targets[k, 1] = starts[b, 1] + swing[1]


@inner
def _slow(before, q, v, step_time):
    """Whether a body hardly moves, nor has moved in this step."""
    speed, shift = 0.0, 0.0
    for k in range(6):
        speed = max(speed, abs(v[k]))
    for k in range(7):
        shift = max(shift, abs(q[k] - before[k]))
    return speed <= SLOW and shift <= SLOW * step_time


@inner
def _leans(part, owners, contacts):
    """Whether a part touches another, the floor left out."""
    for c in range(len(contacts)):
        first, second = owners[contacts[c, 0]], owners[contacts[c, 1]]
        if first != second and part in (first, second) and FLOOR not in (first, second):
            return True
    return False


@inner
def _on_course(rules, state, i, b):
    """Whether body b is where it would be untouched; if so it is put there exactly."""
    row = rules.course[state.steps[i] + 1]
    q, v, start = state.body_q[i, b], state.body_v[i, b], state.body_start[i, b]
    half = 0.5 * state.turns[i, rules.first_body + b]
    w, z = math.cos(half), math.sin(half)
    if q[3] * w + q[6] * z < 0:  # the same rotation, a full turn later
        w, z = -w, -z
    error = max(
        abs(q[0] - start[0] - row[0]), abs(q[1] - start[1] - row[1]),
        abs(q[2] - rules.body_height - row[2]),
        abs(q[3] - w), abs(q[4]), abs(q[5]), abs(q[6] - z),
        abs(v[0] - row[3]), abs(v[1] - row[4]), abs(v[2] - row[5]),
        abs(v[3]), abs(v[4]), abs(v[5]),
    )  # fmt: skip
    if error > BACK_ON_COURSE:
        return False
    q[0], q[1], q[2] = start[0] + row[0], start[1] + row[1], rules.body_height + row[2]
    q[3], q[4], q[5], q[6] = w, 0.0, 0.0, z
    copy(row[3:], v[:3])
    fill(0.0, v[3:])
    return True


@inner
def _store_body(rules, state, i, b, qpos, qvel, leans):
    slow = _slow(state.body_q[i, b], qpos, qvel, rules.step_time)
    untouched = state.status[i, b] == ON_COURSE
    copy(qpos, state.body_q[i, b])
    copy(qvel, state.body_v[i, b])
    if rules.everything:
        state.status[i, b] = LOOSE
    elif (rules.gremlins or untouched) and _on_course(rules, state, i, b):
        state.status[i, b] = ON_COURSE
    elif slow and not leans and not rules.gremlins:
        state.status[i, b] = RESTING
        fill(0.0, state.body_v[i, b])
    else:
        state.status[i, b] = LOOSE


@entry
def read_sensors(data, sensors):
    """Copy MuJoCo's sensor readings; the Car's rear ball is observed as a matrix."""
    if len(data) == len(sensors):
        copy(data, sensors)
    else:
        copy(data, sensors[:15])
        rotation(data[15:], sensors[15:])


@entry
def store(rules, state, i, chosen, buffers, owners, contacts, touching):
    """Read environment i back, and what its robot touches."""
    nq, nv = state.robot_q.shape[1], state.robot_v.shape[1]
    copy(buffers.qpos, state.robot_q[i])
    copy(buffers.qvel, state.robot_v[i])
    read_sensors(buffers.sensordata, state.sensors[i])
    first_body = FIRST_PART + rules.num_solids
    for k, b in enumerate(chosen):
        q, v = buffers.qpos[nq + 7 * k :], buffers.qvel[nv + 6 * k :]
        _store_body(rules, state, i, b, q, v, _leans(first_body + k, owners, contacts))
    for c in range(len(contacts)):
        first, second = owners[contacts[c, 0]], owners[contacts[c, 1]]
        other = max(first, second)
        if min(first, second) == ROBOT and other > ROBOT:
            part = other - FIRST_PART
            if part < rules.num_solids:
                touching[i, rules.first_solid + part] = True
            else:
                touching[i, rules.first_body + chosen[part - rules.num_solids]] = True
