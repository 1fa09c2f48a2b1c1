"""What the Car is made of: a box with bumpers on two driven wheels and a ball, as masses and as contacts.

The wheels are round and the ball a sphere, so seen from the box the mass matrix never changes. Accelerations are
therefore counted in the box's own axes: its origin's (3), its turning (3), the left and the right wheel's (1 + 1), and
the ball's relative to the box (3).
"""

import math

import numpy as np
from numpy.typing import NDArray

FREEDOMS = 11
SUBSTEP = 0.004
DENSITY = 5.0
DAMPING = 0.001  # of wheels and ball
BOXES = np.array([  # half sides, then place
    [0.1, 0.1, 0.05, 0, 0, 0], [0.1, 0.01, 0.05, 0, 0.15, 0], [0.01, 0.025, 0.03, 0, 0.125, 0],
    [0.05, 0.01, 0.05, 0, -0.165, 0], [0.05, 0.03, 0.01, 0, -0.13, 0.04],
])  # fmt: skip
RADIUS = 0.05  # of wheels and ball
HALF_WIDTH = 0.025  # of a wheel
LEFT, RIGHT, BALL = range(3)
PLACES = np.array([[-0.13, 0.1, -0.05], [0.13, 0.1, -0.05], [0.0, -0.1, -0.05]])
"""[3, 3] of the centres of left wheel, right wheel and ball."""

WHEEL_MASS = DENSITY * math.pi * RADIUS**2 * 2 * HALF_WIDTH
BALL_MASS = DENSITY * 4 / 3 * math.pi * RADIUS**3
WHEEL_SPIN = WHEEL_MASS * RADIUS**2 / 2
"""Inertia about the axle."""
BALL_SPIN = BALL_MASS * RADIUS**2 * 2 / 5


def _cross(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix of p ×."""
    return np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])


def _mass_matrix() -> NDArray[np.float64]:
    mass = np.zeros((FREEDOMS, FREEDOMS))

    def add(weight: float, place: NDArray, inertia: NDArray) -> None:
        lever = _cross(place)
        mass[:3, :3] += weight * np.eye(3)
        mass[:3, 3:6] -= weight * lever
        mass[3:6, :3] += weight * lever
        mass[3:6, 3:6] += np.diag(inertia) - weight * lever @ lever

    for box in BOXES:
        half, weight = box[:3], DENSITY * 8 * np.prod(box[:3])
        add(weight, box[3:], weight / 3 * (half @ half - half**2))
    across = WHEEL_MASS * (RADIUS**2 / 4 + HALF_WIDTH**2 / 3)
    for wheel in (LEFT, RIGHT):
        add(WHEEL_MASS, PLACES[wheel], np.array([WHEEL_SPIN, across, across]))
        mass[3, 6 + wheel] = mass[6 + wheel, 3] = mass[6 + wheel, 6 + wheel] = WHEEL_SPIN
    add(BALL_MASS, PLACES[BALL], np.full(3, BALL_SPIN))
    mass[3:6, 8:] = mass[8:, 3:6] = mass[8:, 8:] = BALL_SPIN * np.eye(3)
    return mass


MASS = _mass_matrix()
WEIGHT = float(MASS[0, 0])
CENTRE = np.array([MASS[1, 5], MASS[2, 3], MASS[0, 4]]) / WEIGHT  # of mass
INERTIA = MASS[3:6, 3:6].copy()  # about the origin
INVERSE = np.linalg.inv(MASS)
EULER = np.linalg.solve(MASS + SUBSTEP * np.diag([0.0] * 6 + [DAMPING] * 5), MASS)
"""From accelerations to those over a substep, with damping treated implicitly, as MuJoCo's Euler does."""


def _give(place: NDArray[np.float64]) -> float:
    """How easily the centre of a wheel or the ball is moved: MuJoCo's measure for how soft its contacts are."""
    reach = np.zeros((3, FREEDOMS))
    reach[:, :3], reach[:, 3:6] = np.eye(3), -_cross(place)
    return float(np.trace(reach @ INVERSE @ reach.T) / 3)


GIVE = np.array([_give(place) for place in PLACES])
# MuJoCo's defaults: contacts settle in 0.02 s, critically damped, and grow firmer over the first millimetre of depth.
SETTLE_TIME, SOFTEST, FIRMEST, GROWTH = 0.02, 0.9, 0.95, 0.001
SPRING = 1 / (FIRMEST * SETTLE_TIME) ** 2
DAMPER = 2 / (FIRMEST * SETTLE_TIME)
FRICTION = np.array([1.0, 1.0, 0.005, 1e-4, 1e-4])
"""Of sliding along the floor's two tangents, of twisting, and of rolling about the tangents."""
