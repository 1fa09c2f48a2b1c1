"""Where episodes begin: objects and goals placed at random, draw for draw as the original does."""

import math

from shapo.envs.navigation import point, stream
from shapo.envs.navigation.compiled import copy, fill, inner
from shapo.envs.navigation.rules import (
    CIRCLE,
    PRESS_BUTTONS,
    PUSH_BOX,
    REACH_GOAL,
    RUN_CIRCLES,
    WALL,
)
from shapo.envs.navigation.state import LOOSE, ON_COURSE

TRIES_PER_OBJECT = 100
TRIES_PER_GOAL = 10_000
BUTTON_PAUSE = 10


@inner
def _clear(rules, j, placed, x, y, spots):
    """Whether object j at (x, y) keeps clear of the first `placed` objects."""
    for k in range(placed):
        dx, dy = x - spots[k, 0], y - spots[k, 1]
        square, least = dx * dx + dy * dy, rules.keepout[k] + rules.keepout[j]
        # The root decides, as in the original; most pairs are too far apart to need one.
        if square < 1.0001 * least * least and k != j and math.sqrt(square) < least:
            return False
    return True


@inner
def _place(rules, j, placed, tries, words, spots):
    """Draw places for object j until one is clear; False if none of `tries` is."""
    for _ in range(tries):
        x = stream.uniform(words, rules.low[j, 0], rules.high[j, 0])
        y = stream.uniform(words, rules.low[j, 1], rules.high[j, 1])
        if _clear(rules, j, placed, x, y, spots):
            spots[j, 0], spots[j, 1] = x, y
            return True
    return False


@inner
def arrange(rules, words, spots, turns):
    """Draw a whole layout; where an object finds no room, start over."""
    placed, objects = 0, len(rules.kind)
    while placed < objects:
        placed = placed + 1 if _place(rules, placed, placed, TRIES_PER_OBJECT, words, spots) else 0
    for j in range(objects):
        turns[j] = stream.uniform(words, 0.0, 2 * math.pi)
        if rules.kind[j] == CIRCLE or rules.kind[j] == WALL:
            # The jitter is drawn, but lidar, reward and cost know the exact place.
            spots[j, 0] = 0.5 * (rules.low[j, 0] + rules.high[j, 0])
            spots[j, 1] = 0.5 * (rules.low[j, 1] + rules.high[j, 1])


@inner
def measure(rules, state, i):
    """Distances that the reward compares: to the goal (Push: box to goal), and robot to box."""
    spots = state.spots[i]
    if rules.aim == RUN_CIRCLES:
        return 0.0, 0.0
    gx, gy = spots[rules.goal, 0], spots[rules.goal, 1]
    x, y = spots[0, 0], spots[0, 1]
    if rules.aim != PUSH_BOX:
        return math.sqrt((gx - x) * (gx - x) + (gy - y) * (gy - y)), 0.0
    bx, by, bz = state.body_q[i, 0, 0], state.body_q[i, 0, 1], state.body_q[i, 0, 2]
    height = 0.1 if rules.point else state.robot_q[i, 2]
    goal = (bx - gx) ** 2 + (by - gy) ** 2 + (bz - rules.goal_height) ** 2
    box = (bx - x) ** 2 + (by - y) ** 2 + (bz - height) ** 2
    return math.sqrt(goal), math.sqrt(box)


@inner
def set_goal(rules, state, i):
    """Draw the next goal of environment i; False where there is no room for one."""
    found = True
    if rules.aim == REACH_GOAL or rules.aim == PUSH_BOX:
        objects = len(rules.kind)
        found = _place(rules, rules.goal, objects, TRIES_PER_GOAL, state.words[i], state.spots[i])
    elif rules.aim == PRESS_BUTTONS:
        state.goal_button[i] = stream.one_of_four(state.words[i])
        button = rules.first_solid + state.goal_button[i]
        copy(state.spots[i, button], state.spots[i, rules.goal])
        state.timer[i] = BUTTON_PAUSE
    state.last_goal[i], state.last_box[i] = measure(rules, state, i)
    return found


@inner
def begin(rules, state, i):
    """Begin a new episode in environment i, its random stream going on."""
    spots, turns = state.spots[i], state.turns[i]
    arrange(rules, state.words[i], spots, turns)
    fill(0.0, state.robot_q[i])
    fill(0.0, state.robot_v[i])
    state.robot_q[i, 0], state.robot_q[i, 1] = spots[0, 0], spots[0, 1]
    if rules.point:
        state.robot_q[i, 2] = turns[0]
        point.sense_at_rest(turns[0], state.sensors[i])
    else:
        state.robot_q[i, 2] = 0.1
        state.robot_q[i, 3], state.robot_q[i, 6] = math.cos(turns[0] / 2), math.sin(turns[0] / 2)
        state.robot_q[i, 9] = 1.0
    for b in range(rules.num_bodies):
        j = rules.first_body + b
        q = state.body_q[i, b]
        fill(0.0, q)
        fill(0.0, state.body_v[i, b])
        q[0], q[1], q[2] = spots[j, 0], spots[j, 1], rules.body_height
        q[3], q[6] = math.cos(turns[j] / 2), math.sin(turns[j] / 2)
        copy(spots[j], state.body_start[i, b])
        state.status[i, b] = LOOSE if rules.aim == PUSH_BOX else ON_COURSE
    state.steps[i] = 0
    set_goal(rules, state, i)
    state.timer[i] = 0
