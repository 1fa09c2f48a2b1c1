"""What could touch what within one step: the guard that decides between closed form and MuJoCo.

Everything is seen as an upright circle around its origin; errors are on the safe side. A false alarm costs time, a
miss would cost truth.

MuJoCo's collision of a cylinder hangs on the last bit of its pose, and bits differ between models with more and with
fewer bodies. So where a robot could touch something and there are cylinders, all bodies take part.
"""

import math

from shapo.envs.navigation.compiled import fill, inner
from shapo.envs.navigation.state import LOOSE, ON_COURSE

SLACK = 0.01  # how much further than its speed says a robot gets in one step; its origin is not its centre of mass
SHOVE = 0.06  # how far a body gets that is hit in this step


@inner
def _speed(v):
    return math.sqrt(v[0] * v[0] + v[1] * v[1])


@inner
def _near(ax, ay, bx, by, distance):
    return (ax - bx) * (ax - bx) + (ay - by) * (ay - by) <= distance * distance


@inner
def _course_travel(course, steps):
    return math.hypot(
        course[steps + 1, 0] - course[steps, 0], course[steps + 1, 1] - course[steps, 1]
    )


@inner
def _spread(rules, state, i, matters):
    """Whatever a body that matters could hit matters too."""
    grew = True
    while grew:
        grew = False
        for a in range(rules.num_bodies):
            if not matters[a]:
                continue
            p = state.body_q[i, a]
            travel = 2 * SHOVE + rules.step_time * _speed(state.body_v[i, a])
            for b in range(rules.num_bodies):
                q = state.body_q[i, b]
                if not matters[b] and _near(p[0], p[1], q[0], q[1], 2 * rules.body_radius + travel):
                    matters[b] = True
                    grew = True


@inner
def needs_mujoco(rules, state, i, matters):
    """Whether environment i must be stepped by MuJoCo; `matters[b]` becomes True for each body that must be there."""
    fill(rules.everything, matters)
    if rules.everything:
        return True
    x, y = state.robot_q[i, 0], state.robot_q[i, 1]
    reach = rules.robot_radius + rules.step_time * _speed(state.robot_v[i]) + SLACK
    in_reach, loose = False, False
    for j in range(rules.first_solid, rules.first_solid + rules.num_solids):
        if _near(x, y, state.spots[i, j, 0], state.spots[i, j, 1], reach + rules.size[j]):
            in_reach = True
    for b in range(rules.num_bodies):
        q = state.body_q[i, b]
        travel = 0.0
        if rules.gremlins and state.status[i, b] == ON_COURSE:
            travel = _course_travel(rules.course, state.steps[i])
        if _near(x, y, q[0], q[1], reach + rules.body_radius + travel):
            matters[b] = True
            in_reach = True
        elif state.status[i, b] == LOOSE:
            matters[b] = True
            loose = True
    if in_reach and rules.cylinders:
        fill(True, matters)
    elif in_reach or loose:
        _spread(rules, state, i, matters)
    return in_reach or loose
