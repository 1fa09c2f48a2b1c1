"""The Car with nothing but the floor in reach: what MuJoCo computes for it, without MuJoCo.

Where a rounding could decide whether a wheel touches the floor, as when an episode begins, and where the Car is tilted,
MuJoCo is asked all the same.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.envs.navigation.chassis import (
    BALL_SPIN,
    CENTRE,
    DAMPING,
    EULER,
    FREEDOMS,
    INERTIA,
    INVERSE,
    SUBSTEP,
    WEIGHT,
    WHEEL_SPIN,
)
from shapo.envs.navigation.compiled import copy, entry, inner
from shapo.envs.navigation.footing import Contacts, find_contacts, no_contacts
from shapo.envs.navigation.grip import settle
from shapo.envs.navigation.models import GRAVITY, MAGNETIC, SUBSTEPS
from shapo.envs.navigation.rotations import cross, dot, rotation, turn

FORCE_LIMIT = 0.02


class Moment(NamedTuple):
    """A robot as it is at one moment, seen from its box."""

    axes: NDArray[np.float64]
    """[9] the world's x, y and z."""
    ball: NDArray[np.float64]
    """[9] the matrix that takes the ball's axes to the box's."""
    speed: NDArray[np.float64]
    """[11] velocities, in the order and the axes of accelerations."""
    free: NDArray[np.float64]
    """[11] accelerations if there were no floor."""
    contacts: Contacts


@inner
def _look(q, v, moment):
    """Axes and velocities from MuJoCo's positions and velocities."""
    axes, ball, speed = moment.axes, moment.ball, moment.speed
    rotation(q[3:7], axes)
    rotation(q[9:13], ball)
    for k in range(3):
        speed[k] = axes[k] * v[0] + axes[3 + k] * v[1] + axes[6 + k] * v[2]
        speed[8 + k] = dot(ball[3 * k : 3 * k + 3], v[8:11])
    copy(v[3:8], speed[3:8])


@inner
def _fall(left, right, moment):
    """Accelerations without a floor: by gravity, motors, damping, and because what spins resists being turned."""
    speed = moment.speed
    up = moment.axes[6], moment.axes[7], moment.axes[8]
    centre, turning = (CENTRE[0], CENTRE[1], CENTRE[2]), (speed[3], speed[4], speed[5])
    force = np.empty(FREEDOMS)
    inward = cross(*cross(*turning, *centre), *turning)
    torque = cross(*up, *centre)
    for k in range(3):
        force[k] = WEIGHT * (inward[k] - GRAVITY * up[k])
        force[3 + k] = WEIGHT * GRAVITY * torque[k]
    spun = cross(
        dot(INERTIA[0], speed[3:6]) + BALL_SPIN * speed[8] + WHEEL_SPIN * (speed[6] + speed[7]),
        dot(INERTIA[1], speed[3:6]) + BALL_SPIN * speed[9],
        dot(INERTIA[2], speed[3:6]) + BALL_SPIN * speed[10],
        *turning,
    )
    carried = cross(*turning, speed[8], speed[9], speed[10])
    for k in range(3):
        force[3 + k] += spun[k]
        force[8 + k] = -DAMPING * speed[8 + k] - BALL_SPIN * carried[k]
    force[6], force[7] = left - DAMPING * speed[6], right - DAMPING * speed[7]
    for i in range(FREEDOMS):
        moment.free[i] = dot(INVERSE[i], force)


@inner
def _accelerate(q, v, left, right, moment, a):
    """Write the accelerations of this moment into `a`; False where MuJoCo must be asked."""
    _look(q, v, moment)
    _fall(left, right, moment)
    count = find_contacts(q[2], moment.axes, moment.speed, moment.contacts)
    return count >= 0 and settle(moment.free, count, moment.contacts, a)


@inner
def _advance(q, v, moment, a):
    """One substep with accelerations `a`."""
    axes, ball, gained = moment.axes, moment.ball, np.empty(FREEDOMS)
    for i in range(FREEDOMS):
        gained[i] = SUBSTEP * dot(EULER[i], a)
    for k in range(3):
        v[k] += dot(axes[3 * k : 3 * k + 3], gained[:3])
        v[8 + k] += ball[k] * gained[8] + ball[3 + k] * gained[9] + ball[6 + k] * gained[10]
    for k in range(3, 8):
        v[k] += gained[k]
    for k in range(3):
        q[k] += SUBSTEP * v[k]
    turn(q[3:7], v[3:6], SUBSTEP)
    q[7] += SUBSTEP * v[6]
    q[8] += SUBSTEP * v[7]
    turn(q[9:13], v[8:11], SUBSTEP)


@inner
def _sense(v, moment, a, sensors):
    """Write accelerometer, velocimeter, gyro, magnetometer, and how the ball turns and is turned."""
    for k in range(3):
        sensors[k] = a[k] + GRAVITY * moment.axes[6 + k]
        sensors[3 + k] = moment.speed[k]
        sensors[6 + k] = v[3 + k]
        sensors[9 + k] = -MAGNETIC * moment.axes[3 + k]
        sensors[12 + k] = v[8 + k]
    copy(moment.ball, sensors[15:])


@inner
def _clip(x):
    return min(FORCE_LIMIT, max(-FORCE_LIMIT, x))


@entry
def move(q, v, action, sensors):
    """One environment step of the lone robot, in place; False, with nothing changed, where MuJoCo must be asked."""
    left, right = _clip(action[0]), _clip(action[1])
    moment = Moment(np.empty(9), np.empty(9), np.empty(FREEDOMS), np.empty(FREEDOMS), no_contacts())
    new_q, new_v, a = q.copy(), v.copy(), np.zeros(FREEDOMS)
    for substep in range(SUBSTEPS + 1):  # the last one only to sense
        if not _accelerate(new_q, new_v, left, right, moment, a):
            return False
        if substep < SUBSTEPS:
            _advance(new_q, new_v, moment, a)
    copy(new_q, q)
    copy(new_v, v)
    _sense(v, moment, a, sensors)
    return True
