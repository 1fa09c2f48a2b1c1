"""Where the Car touches the floor, and what each contact tries to bring about."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.envs.navigation.chassis import (
    BALL,
    DAMPER,
    FIRMEST,
    FREEDOMS,
    GIVE,
    GROWTH,
    HALF_WIDTH,
    PLACES,
    RADIUS,
    SOFTEST,
    SPRING,
)
from shapo.envs.navigation.compiled import fill, inner
from shapo.envs.navigation.rotations import cross, dot

FEET = np.array([[-1, 0], [1, 0], [-1, 1], [1, 1], [0, 2]])
"""What can touch the floor, as edge and part: the outer and inner edge of each wheel, and the ball."""
DIRECTIONS = 6
"""Of a contact: the floor's normal and two tangents, to move along and to turn about."""
UNDECIDED = 1e-11  # m: nearer to the floor than this, rounding could decide whether it is touched
UPRIGHT = 0.99  # cosine of the tilt up to which nothing but wheels and ball can touch the floor
DEEPEST = 0.01  # m: likewise


class Contacts(NamedTuple):
    """Contacts with the floor, as many as there are feet at most."""

    jacobian: NDArray[np.float64]
    """[contacts, 6, 11] how accelerations of the Car move the contact in each direction."""
    target: NDArray[np.float64]
    """[contacts, 6] the acceleration of the contact that the floor tries to bring about."""
    stiffness: NDArray[np.float64]
    """[contacts] how hard it tries."""


@inner
def no_contacts():
    """Memory for the contacts of one robot."""
    feet = len(FEET)
    return Contacts(
        np.empty((feet, DIRECTIONS, FREEDOMS)), np.empty((feet, DIRECTIONS)), np.empty(feet)
    )


@inner
def _touch(contacts, c, part, x, y, z, gap, axes, speed):
    """Make contact c: `part` touches the floor at (x, y, z), seen from the box."""
    jacobian, target = contacts.jacobian[c], contacts.target[c]
    from_centre = x - PLACES[part, 0], y - PLACES[part, 1], z - PLACES[part, 2]
    for d in range(3):
        # The normal is the world's z, the tangents are y and -x.
        row, sign = 3 * (2 - d), -1.0 if d == 2 else 1.0
        way = sign * axes[row], sign * axes[row + 1], sign * axes[row + 2]
        move, turn = jacobian[d], jacobian[3 + d]
        fill(0.0, move)
        fill(0.0, turn)
        move[0], move[1], move[2] = way
        move[3], move[4], move[5] = cross(x, y, z, *way)
        turn[3], turn[4], turn[5] = way
        spin = cross(*from_centre, *way)
        if part == BALL:
            move[8], move[9], move[10] = spin
            turn[8], turn[9], turn[10] = way
        else:
            move[6 + part], turn[6 + part] = spin[0], way[0]
    grown = min(1.0, -gap / GROWTH)
    grown = 2 * grown * grown if grown <= 0.5 else 1 - 2 * (1 - grown) * (1 - grown)
    firmness = SOFTEST + grown * (FIRMEST - SOFTEST)
    contacts.stiffness[c] = firmness / (4 * GIVE[part] * (1 - firmness))
    for d in range(DIRECTIONS):
        target[d] = -DAMPER * dot(jacobian[d], speed)
    target[0] -= SPRING * firmness * gap


@inner
def find_contacts(height, axes, speed, contacts):
    """Make the contacts of a Car at `height` and return how many; -1 where it is not for us to say.

    `axes` are the world's, and `speed` the velocities, both seen from the box.
    """
    ux, uy, uz = axes[6], axes[7], axes[8]
    if uz < UPRIGHT:
        return -1
    count = 0
    for foot in range(len(FEET)):
        part = FEET[foot, 1]
        x, y, z = PLACES[part, 0] + HALF_WIDTH * FEET[foot, 0], PLACES[part, 1], PLACES[part, 2]
        # The lowest point of a wheel's edge lies straight down in the plane of the wheel, that of the ball in space.
        sx = ux if part == BALL else 0.0
        length = math.sqrt(sx * sx + uy * uy + uz * uz)
        gap = height + ux * x + uy * y + uz * z - RADIUS * length
        if abs(gap) < UNDECIDED or gap < -DEEPEST:
            return -1
        if gap < 0:  # they meet halfway between that point and the floor
            down, half = RADIUS / length, 0.5 * gap
            x, y, z = x - down * sx - half * ux, y - (down + half) * uy, z - (down + half) * uz
            _touch(contacts, count, part, x, y, z, gap, axes, speed)
            count += 1
    return count
