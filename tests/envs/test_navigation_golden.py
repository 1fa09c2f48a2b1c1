"""Navigation against recordings of the original: Safety-Gymnasium 1.0.0 on MuJoCo 2.3.3."""

import mujoco
import navigation_golden
import numpy as np
import pytest

from shapo.envs import navigation
from shapo.envs.navigation import batch
from shapo.envs.navigation.exchange import load, store
from shapo.envs.navigation.physics import Physics
from shapo.envs.navigation.state import LOOSE, ON_COURSE, RESTING, State

ids = pytest.mark.parametrize("id", navigation_golden.IDS)


@ids
def test_resets_draw_the_original_layouts(id):
    golden = navigation_golden.load(id)
    names = navigation_golden.names(navigation.TASKS[id])
    for layout in golden.layouts:
        env = navigation.make(id, 1)
        obs = env.reset(layout["seed"])[0]
        state = env.get_state()
        places = layout["layout"] | {"goal": layout["goal_body_xy"]}
        assert state["spots"][0].tolist() == [places[name] for name in names]
        assert state["turns"][0, 0] == layout["agent_rot"]
        assert state["goal_button"][0] == layout["goal_button"]
        np.testing.assert_allclose(obs, layout["obs0"], rtol=0, atol=1e-12)


def _touching(env, state):
    """What the robots touch where they are, according to MuJoCo's collision detection."""
    physics = Physics(env.task)
    touching = np.zeros((env.num_envs, len(env.rules.kind)), np.bool_)
    chosen = np.arange(env.rules.num_bodies)
    work = physics.workspace(len(chosen))
    for i in range(env.num_envs):
        load(env.rules, state, i, np.zeros(2), chosen, work.buffers)
        mujoco.mj_forward(work.model, work.data)
        contacts = work.data.contact.geom.copy()
        store(env.rules, state, i, chosen, work.buffers, work.owners, contacts, touching)
    return touching


@ids
def test_lidar_reward_cost_timer_and_goals_of_recorded_poses(id):
    golden = navigation_golden.load(id)
    rows, before = golden.rows, navigation_golden.states(id, golden)
    seeds = [layout["seed"] for layout in golden.layouts]
    by_step = np.array([np.flatnonzero(rows["seed"] == seed) for seed in seeds]).T
    env = navigation.make(id, len(seeds), seeds[0], physics="mujoco")
    words = env.get_state()["words"]
    goals = 0
    for now in by_step:
        n, size = len(now), env.observation_space.shape[0]
        after = {name: array[now] for name, array in before.items()} | {"words": words}
        after["robot_q"], after["robot_v"] = rows["pose1"][now], rows["vel1"][now]
        after["body_q"] = rows["qfree1"][now].reshape(n, -1, 7)
        after["body_v"] = rows["vfree1"][now].reshape(n, -1, 6)
        state = State(**{name: np.ascontiguousarray(array) for name, array in after.items()})
        touching = _touching(env, state)
        state.sensors[:] = rows["obs"][now][:, :12]
        obs, last_obs = np.empty((n, size)), np.empty((n, size))
        reward, cost, ended = np.empty(n), np.empty(n), np.empty((2, n), np.bool_)
        batch.conclude(env.rules, state, touching, obs, reward, cost, ended[0], ended[1], last_obs)
        np.testing.assert_allclose(obs, rows["obs"][now], rtol=0, atol=1e-12)
        np.testing.assert_allclose(reward, rows["reward"][now], rtol=0, atol=1e-12)
        np.testing.assert_array_equal(cost, rows["cost"][now])
        np.testing.assert_array_equal(state.timer, rows["timer1"][now])
        np.testing.assert_array_equal(state.goal_button, rows["gbtn1"][now])
        np.testing.assert_array_equal(state.spots[:, env.rules.goal], rows["goal1"][now])
        words, goals = state.words, goals + int(rows["goal_met"][now].sum())
    assert goals > 10


@ids
@pytest.mark.parametrize("physics", ["hybrid", "mujoco"])
def test_transitions_from_recorded_states(id, physics):
    golden = navigation_golden.load(id)
    rows, state = golden.rows, navigation_golden.states(id, golden)
    env = navigation.make(id, len(rows["seed"]), physics=physics)
    rules = env.rules
    solid = state["spots"][:, rules.first_solid : rules.first_solid + rules.num_solids]
    things = np.concatenate([solid, state["body_q"][:, :, :2]], axis=1)
    gap = np.linalg.norm(things - rows["pose"][:, None, :2], axis=2).min(axis=1)
    free = gap > 0.45
    state["status"][free] = ON_COURSE if rules.gremlins else RESTING
    state["status"][~free] = LOOSE
    env.set_state(state)
    step, after = env.step(rows["action"]), env.get_state()
    pose_error = np.abs(after["robot_q"] - rows["pose1"]).max(axis=1)
    speed_error = np.abs(after["robot_v"] - rows["vel1"]).max(axis=1)

    assert 150 < free.sum() < len(free) - 50
    assert pose_error[free].max() <= 1e-9
    assert speed_error[free].max() <= 1e-9
    np.testing.assert_allclose(step.last_obs[free, :12], rows["obs"][free, :12], rtol=0, atol=1e-7)
    # MuJoCo has since changed the depth of box-box contacts and the weight of welds.
    assert np.median(pose_error[~free]) < 1e-3
    assert np.quantile(pose_error[~free], 0.95) < 5e-3
    assert np.mean(step.cost != rows["cost"]) < 0.02
    assert np.median(np.abs(step.reward - rows["reward"])) < 1e-9


def test_gremlins_nobody_touches_are_where_they_were_recorded():
    """Where their course has them after so many steps: half of them were pushed about by nobody."""
    id = "SafetyPointButton1-v0"
    golden = navigation_golden.load(id)
    before, rules = navigation_golden.states(id, golden), navigation.make(id, 1).rules
    course = rules.course[before["steps"] + 1][:, None]
    bodies = golden.rows["qfree1"].reshape(-1, rules.num_bodies, 7)
    speeds = golden.rows["vfree1"].reshape(-1, rules.num_bodies, 6)
    place = np.abs(bodies[:, :, :2] - before["body_start"] - course[:, :, :2]).max(axis=2)
    assert place.min(axis=1).max() < 1e-8 and np.median(place) < 1e-12
    assert np.median(np.abs(speeds[:, :, :3] - course[:, :, 3:])) < 1e-12
