"""The Point robot off contact, in closed form: what MuJoCo computes for it, without MuJoCo.

The robot is a ball with an arrow in front, so its centre of mass lies ahead of the hinge it turns about, and turning
pulls on it sideways. Its turn servo is integrated explicitly and chatters; that is part of the task.
"""

import math

from shapo.envs.navigation import models
from shapo.envs.navigation.compiled import fill, inner
from shapo.envs.navigation.models import GRAVITY, MAGNETIC, SUBSTEPS

SUBSTEP = models.SUBSTEP["point"]
MASS = 4.0 / 3.0 * math.pi * 1e-3 + 1e-3
"""Of a ball of radius 0.1 and an arrow of half side 0.05, with density 1."""
OFFSET = 0.1 * 1e-3 / MASS  # of the centre of mass, along the arrow
DRAG, TURN_DRAG = 0.01, 0.005
GEAR, FORCE_LIMIT = 0.3, 0.05


@inner
def _clip(x, limit):
    return min(limit, max(-limit, x))


@inner
def _acceleration(heading, v, forward, turn, drag_time, hinge_inertia):
    """Acceleration (x, y, heading); `drag_time` > 0 treats drag implicitly over that time, as MuJoCo's Euler does."""
    s, c, w = math.sin(heading), math.cos(heading), v[2]
    force = GEAR * _clip(forward, FORCE_LIMIT)
    torque = GEAR * _clip(turn - GEAR * w, FORCE_LIMIT)
    pull = force + MASS * OFFSET * w * w
    fx = pull * c - DRAG * v[0]
    fy = pull * s - DRAG * v[1]
    m = MASS + drag_time * DRAG
    sx, sy = -MASS * OFFSET * s, MASS * OFFSET * c
    inertia = hinge_inertia + drag_time * TURN_DRAG - (sx * sx + sy * sy) / m
    aw = (torque - TURN_DRAG * w - (sx * fx + sy * fy) / m) / inertia
    return (fx - sx * aw) / m, (fy - sy * aw) / m, aw


@inner
def move(q, v, action, hinge_inertia):
    """One environment step of the free robot, in place."""
    forward, turn = _clip(action[0], 1.0), _clip(action[1], 1.0)
    for _ in range(SUBSTEPS):
        ax, ay, aw = _acceleration(q[2], v, forward, turn, SUBSTEP, hinge_inertia)
        v[0] += SUBSTEP * ax
        v[1] += SUBSTEP * ay
        v[2] += SUBSTEP * aw
        q[0] += SUBSTEP * v[0]
        q[1] += SUBSTEP * v[1]
        q[2] += SUBSTEP * v[2]


@inner
def sense_at_rest(heading, sensors):
    """Write what the robot senses that stands still."""
    fill(0.0, sensors)
    sensors[2] = GRAVITY
    sensors[9], sensors[10] = -MAGNETIC * math.sin(heading), -MAGNETIC * math.cos(heading)


@inner
def sense(q, v, action, hinge_inertia, sensors):
    """Write what the free robot senses under `action`: accelerometer, velocimeter, gyro, magnetometer."""
    s, c = math.sin(q[2]), math.cos(q[2])
    forward, turn = _clip(action[0], 1.0), _clip(action[1], 1.0)
    ax, ay, _ = _acceleration(q[2], v, forward, turn, 0.0, hinge_inertia)
    sensors[0], sensors[1], sensors[2] = c * ax + s * ay, c * ay - s * ax, GRAVITY
    sensors[3], sensors[4], sensors[5] = c * v[0] + s * v[1], c * v[1] - s * v[0], 0.0
    sensors[6], sensors[7], sensors[8] = 0.0, 0.0, v[2]
    sensors[9], sensors[10], sensors[11] = -MAGNETIC * s, -MAGNETIC * c, 0.0
