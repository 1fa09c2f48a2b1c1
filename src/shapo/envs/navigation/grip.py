"""How wheels hold the floor: MuJoCo's contact forces, as the accelerations that minimise one convex function.

MuJoCo's contacts are soft. With the mass matrix M and the accelerations a0 that there would be without a floor, the
accelerations are those that minimise

    ½ (a − a0)ᵀ M (a − a0) + Σ ½ stiffness · min(0, zₙ ± μₖ zₖ)²,     z = J a − target.

Each contact has a normal direction n and five k in which friction works, with a coefficient μₖ each, and so ten terms.
The function is made of quadratic pieces. Newton's method with an exact line search ends on the piece that holds the
minimum, and there one step is exact: to the rounding, the answer is MuJoCo's.
"""

import math

import numpy as np

from shapo.envs.navigation.chassis import FREEDOMS, FRICTION, MASS
from shapo.envs.navigation.compiled import copy, fill, inner
from shapo.envs.navigation.footing import DIRECTIONS, FEET
from shapo.envs.navigation.rotations import dot

MOST_STEPS = 30
NEGLIGIBLE = 1e-28
"""What a step may gain, in units of the function, where there is nothing left to gain."""


@inner
def _piece(count, z, change, time):
    """Which terms count at `z + time · change`, one bit for each."""
    bits, bit = 0, 1
    for c in range(count):
        normal = z[c, 0] + time * change[c, 0]
        for k in range(5):
            across = FRICTION[k] * (z[c, k + 1] + time * change[c, k + 1])
            bits |= bit * (normal + across < 0) | 2 * bit * (normal - across < 0)
            bit <<= 2
    return bits


@inner
def _slopes(count, z, change, stiffness, time):
    """First and second derivative of the contacts' terms by the time, at `z + time · change`."""
    first, second = 0.0, 0.0
    for c in range(count):
        normal, d_normal = z[c, 0] + time * change[c, 0], change[c, 0]
        for k in range(5):
            across = FRICTION[k] * (z[c, k + 1] + time * change[c, k + 1])
            d_across = FRICTION[k] * change[c, k + 1]
            if normal + across < 0:
                first += stiffness[c] * (normal + across) * (d_normal + d_across)
                second += stiffness[c] * (d_normal + d_across) ** 2
            if normal - across < 0:
                first += stiffness[c] * (normal - across) * (d_normal - d_across)
                second += stiffness[c] * (d_normal - d_across) ** 2
    return first, second


@inner
def _best_time(count, z, change, stiffness, slope, curve):
    """How much of a step to take; `slope` and `curve` are the derivatives of the function's first part."""
    low, high, time = 0.0, math.inf, 1.0
    for _ in range(50):
        first, second = _slopes(count, z, change, stiffness, time)
        first += slope + time * curve
        if first < 0:
            low = time
        else:
            high = time
        better = time - first / (second + curve)
        if abs(better - time) <= 1e-15 * time:
            break
        time = better if low < better < high else 0.5 * (low + high)
    return time


@inner
def _add_contacts(count, contacts, z, hessian, gradient):
    """Add the contacts' terms to the function's gradient and Hessian."""
    weighted = np.empty((DIRECTIONS, FREEDOMS))
    for c in range(count):
        rows, stiff = contacts.jacobian[c], contacts.stiffness[c]
        push, active = 0.0, 0.0
        fill(0.0, weighted[0])
        for k in range(5):
            mu, row = FRICTION[k], rows[k + 1]
            plus, minus = min(0.0, z[c, 0] + mu * z[c, k + 1]), min(0.0, z[c, 0] - mu * z[c, k + 1])
            on_plus, on_minus = 1.0 * (plus < 0), 1.0 * (minus < 0)
            push += plus + minus
            active += on_plus + on_minus
            side = stiff * mu * (plus - minus)
            own, shared = stiff * mu * mu * (on_plus + on_minus), stiff * mu * (on_plus - on_minus)
            for j in range(FREEDOMS):
                gradient[j] += side * row[j]
                weighted[k + 1, j] = own * row[j] + shared * rows[0, j]
                weighted[0, j] += shared * row[j]
        for j in range(FREEDOMS):
            gradient[j] += stiff * push * rows[0, j]
            weighted[0, j] += stiff * active * rows[0, j]
        for i in range(FREEDOMS):
            for d in range(DIRECTIONS):
                weight = weighted[d, i]
                if weight != 0:
                    for j in range(FREEDOMS):
                        hessian[i, j] += weight * rows[d, j]


@inner
def _solve(matrix, x):
    """Overwrite `x` with matrix⁻¹ x, and the matrix, which is positive, with Cholesky's factor."""
    n = len(x)
    for i in range(n):
        for j in range(i + 1):
            left = matrix[i, j] - dot(matrix[i, :j], matrix[j, :j])
            matrix[i, j] = math.sqrt(left) if i == j else left / matrix[j, j]
        x[i] = (x[i] - dot(matrix[i, :i], x[:i])) / matrix[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= matrix[k, i] * x[k]
        x[i] /= matrix[i, i]


@inner
def _in_contacts(count, contacts, accelerations, answer):
    for c in range(count):
        for d in range(DIRECTIONS):
            answer[c, d] = dot(contacts.jacobian[c, d], accelerations)


@inner
def settle(free, count, contacts, a):
    """Move the accelerations `a` to the minimum, from wherever they are; False if it was not found."""
    hessian = np.empty((FREEDOMS, FREEDOMS))
    pull, gradient, step = np.empty(FREEDOMS), np.empty(FREEDOMS), np.empty(FREEDOMS)
    z, change = np.empty((len(FEET), DIRECTIONS)), np.empty((len(FEET), DIRECTIONS))
    _in_contacts(count, contacts, a, z)
    for c in range(count):
        for d in range(DIRECTIONS):
            z[c, d] -= contacts.target[c, d]
    for _ in range(MOST_STEPS):
        for i in range(FREEDOMS):
            step[i] = a[i] - free[i]
            copy(MASS[i], hessian[i])
        for i in range(FREEDOMS):
            pull[i] = dot(MASS[i], step)
        copy(pull, gradient)
        _add_contacts(count, contacts, z, hessian, gradient)
        for i in range(FREEDOMS):
            step[i] = -gradient[i]
        _solve(hessian, step)
        if -dot(gradient, step) <= NEGLIGIBLE:
            return True
        _in_contacts(count, contacts, step, change)
        same_piece = _piece(count, z, change, 0.0) == _piece(count, z, change, 1.0)
        time = 1.0
        if not same_piece:
            curve = 0.0
            for i in range(FREEDOMS):
                curve += step[i] * dot(MASS[i], step)
            time = _best_time(count, z, change, contacts.stiffness, dot(pull, step), curve)
        for i in range(FREEDOMS):
            a[i] += time * step[i]
        for c in range(count):
            for d in range(DIRECTIONS):
                z[c, d] += time * change[c, d]
        if same_piece:
            return True
    return False
