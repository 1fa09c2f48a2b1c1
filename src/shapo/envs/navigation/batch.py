"""One step of a whole batch: everything that is not MuJoCo, in two compiled calls."""

from shapo.envs.navigation import car, point
from shapo.envs.navigation.compiled import copy, entry, fill, inner
from shapo.envs.navigation.layout import begin, set_goal
from shapo.envs.navigation.outcome import cost, reward
from shapo.envs.navigation.reach import needs_mujoco
from shapo.envs.navigation.sight import observe
from shapo.envs.navigation.state import ON_COURSE
from shapo.envs.navigation.stream import skip_double


@inner
def _follow_course(rules, state, i, matters):
    """Take every untouched body that MuJoCo does not step to where it is after this step."""
    row = rules.course[state.steps[i] + 1]
    for b in range(rules.num_bodies):
        if state.status[i, b] == ON_COURSE and not matters[b]:
            state.body_q[i, b, 0] = state.body_start[i, b, 0] + row[0]
            state.body_q[i, b, 1] = state.body_start[i, b, 1] + row[1]
            state.body_q[i, b, 2] = rules.body_height + row[2]
            copy(row[3:], state.body_v[i, b, :3])


# One entry for each robot, so that whoever wants one need not wait until the other is compiled.


@entry
def advance_points(rules, state, actions, matters, near, touching):
    """Move all that moves freely. `near[:count]` are the environments left to MuJoCo; returns count."""
    count = 0
    for i in range(len(actions)):
        fill(False, touching[i])
        if needs_mujoco(rules, state, i, matters[i]):
            near[count] = i
            count += 1
        else:
            q, v = state.robot_q[i], state.robot_v[i]
            point.move(q, v, actions[i], rules.hinge_inertia)
            point.sense(q, v, actions[i], rules.hinge_inertia, state.sensors[i])
        _follow_course(rules, state, i, matters[i])
    return count


@entry
def advance_cars(rules, state, actions, matters, near, touching):
    """The same for Cars."""
    count = 0
    for i in range(len(actions)):
        fill(False, touching[i])
        if needs_mujoco(rules, state, i, matters[i]) or not car.move(
            state.robot_q[i], state.robot_v[i], actions[i], state.sensors[i]
        ):
            near[count] = i
            count += 1
        _follow_course(rules, state, i, matters[i])
    return count


@inner
def _refresh_spots(rules, state, i):
    copy(state.robot_q[i], state.spots[i, 0])
    for b in range(rules.num_bodies):
        copy(state.body_q[i, b], state.spots[i, rules.first_body + b])


@entry
def conclude(rules, state, touching, obs, rewards, costs, terminated, truncated, last_obs):
    """Reward, cost, goals, time and observations after everything moved; ended episodes begin anew."""
    for i in range(len(obs)):
        skip_double(state.words[i])
        _refresh_spots(rules, state, i)
        rewards[i], achieved = reward(rules, state, touching, i)
        costs[i] = cost(rules, state, touching, i)
        state.timer[i] = max(0, state.timer[i] - 1)
        terminated[i] = achieved and not set_goal(rules, state, i)
        state.steps[i] += 1
        truncated[i] = state.steps[i] >= rules.horizon
        _look(rules, state, i, last_obs[i])
        if terminated[i] or truncated[i]:
            begin(rules, state, i)
            _look(rules, state, i, obs[i])
        else:
            copy(last_obs[i], obs[i])


@inner
def _look(rules, state, i, obs):
    observe(rules, state.robot_q[i], state.sensors[i], state.spots[i], state.timer[i], obs)


@entry
def begin_all(rules, state, obs):
    """Begin an episode in every environment."""
    for i in range(len(obs)):
        begin(rules, state, i)
        _look(rules, state, i, obs[i])


@entry
def look_all(rules, state, obs):
    """What every environment observes now."""
    for i in range(len(obs)):
        _look(rules, state, i, obs[i])
