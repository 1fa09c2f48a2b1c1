"""What every navigation environment promises: seeding, state, autoreset, bounds, and clear errors."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapo.envs import navigation
from shapo.envs.navigation.env import Navigation
from shapo.envs.navigation.seeker import seek_everything
from shapo.envs.navigation.tasks import Objects
from shapo.envs.protocol import BatchEnv

ALL = pytest.mark.parametrize("id", navigation.TASKS)
SOME = st.sampled_from(
    ["SafetyPointGoal1-v0", "SafetyPointGoal2-v0", "SafetyPointButton1-v0", "SafetyPointPush2-v0",
     "SafetyPointCircle2-v0", "SafetyCarGoal1-v0"]
)  # fmt: skip
few = settings(max_examples=8, deadline=None)

OBSERVATION_SIZES = {
    "Goal": (28, 60, 60), "Button": (44, 76, 76), "Push": (44, 76, 76), "Circle": (28, 28, 28),
}  # fmt: skip


def _assert_valid(env, step):
    for obs in (step.obs, step.last_obs):
        assert obs.shape == (env.num_envs, *env.observation_space.shape)
        assert np.isfinite(obs).all()
        assert (obs >= env.observation_space.low).all() and (
            obs <= env.observation_space.high
        ).all()
    assert np.isfinite(step.reward).all() and (np.abs(step.reward) <= 10).all()
    assert np.isin(step.cost, (0.0, 1.0)).all()
    assert not step.terminated.any()


@ALL
def test_sizes(id):
    env = navigation.make(id, 2)
    assert isinstance(env, BatchEnv)
    aim = next(name for name in OBSERVATION_SIZES if name in id)
    level, extra = int(id[-4]), 12 if "Car" in id else 0
    assert env.observation_space.shape == (OBSERVATION_SIZES[aim][level] + extra,)
    assert env.horizon == (500 if aim == "Circle" else 1000)
    assert env.reset(3).shape == (2, *env.observation_space.shape)


@ALL
def test_random_steps_are_valid(id):
    env, rng = navigation.make(id, 4, 11), np.random.default_rng(0)
    for _ in range(50):
        _assert_valid(env, env.step(rng.uniform(-1.2, 1.2, (4, 2))))


@pytest.mark.slow
@ALL
def test_a_hundred_thousand_random_steps(id):
    env, rng = navigation.make(id, 20, 1), np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5000):
            _assert_valid(env, env.step(rng.uniform(-1, 1, (20, 2))))


@few
@given(id=SOME, seed=st.integers(0, 2**32 - 100), steps=st.integers(0, 60))
def test_a_restored_batch_continues_bit_for_bit(id, seed, steps):
    env, other = navigation.make(id, 3, seed), navigation.make(id, 3, 0)
    obs = env.reset(seed)
    for _ in range(steps):
        obs = env.step(seek_everything(env)).obs
    saved = env.get_state()
    for _ in range(20):
        other.step(np.ones((3, 2)))
    np.testing.assert_array_equal(other.set_state(saved), obs)
    for _ in range(40):
        action = seek_everything(env)
        for ours, theirs in zip(env.step(action), other.step(action), strict=True):
            np.testing.assert_array_equal(ours, theirs)


@few
@given(id=SOME, seed=st.integers(0, 10**6), split=st.integers(1, 4), data=st.data())
def test_any_split_of_a_batch_gives_the_same_trajectories(id, seed, split, data):
    whole = navigation.make(id, 5, seed)
    parts = [navigation.make(id, split, seed), navigation.make(id, 5 - split, seed + split)]
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    for t in range(60):
        action = seek_everything(whole) if t % 2 else rng.uniform(-1, 1, (5, 2))
        together = whole.step(action)
        apart = [parts[0].step(action[:split]), parts[1].step(action[split:])]
        for name in ("obs", "reward", "cost", "terminated", "truncated", "last_obs"):
            joined = np.concatenate([getattr(step, name) for step in apart])
            np.testing.assert_array_equal(getattr(together, name), joined)


@pytest.mark.parametrize("id", ["SafetyPointGoal1-v0", "SafetyPointCircle1-v0"])
def test_episodes_end_at_the_horizon_and_begin_anew(id):
    env, rng = navigation.make(id, 2, 4), np.random.default_rng(0)
    first = env.get_state()["spots"]
    for t in range(1, env.horizon + 1):
        step = env.step(rng.uniform(-1, 1, (2, 2)))
        ended = t == env.horizon
        assert step.truncated.tolist() == [ended] * 2
        assert (np.abs(step.obs - step.last_obs).max() > 0) == ended
    state = env.get_state()
    assert state["steps"].tolist() == [0, 0]
    assert np.abs(state["spots"] - first).max() > 0.1
    assert np.abs(state["robot_v"]).max() == 0


@pytest.mark.parametrize(
    "id", ["SafetyPointGoal2-v0", "SafetyPointPush2-v0", "SafetyCarPush1-v0", "SafetyCarButton1-v0"]
)
def test_an_episode_owes_the_one_before_nothing_but_its_random_stream(id):
    env, fresh = navigation.make(id, 2, 5), navigation.make(id, 2, 9)
    for _ in range(30):
        env.step(seek_everything(env))
    used, clean = env.get_state(), fresh.get_state()
    used["body_q"][..., 4:6] += 0.1  # tilted, and moving
    used["body_v"] += 0.1
    used["timer"][:] = 5
    clean["words"] = used["words"]
    steps = []
    for each, state in ((env, used), (fresh, clean)):
        state["steps"][:] = env.horizon - 1
        each.set_state(state)
        steps.append(each.step(np.zeros((2, 2))))
    assert all(step.truncated.all() and (step.reward < 0.5).all() for step in steps)
    np.testing.assert_array_equal(steps[0].obs, steps[1].obs)
    begun = fresh.get_state()
    for name, array in env.get_state().items():
        np.testing.assert_array_equal(array, begun[name], err_msg=name)


def test_where_there_is_no_room_for_another_goal_the_episode_ends():
    """With the robot in its middle a place as narrow as this has none."""
    goal = Objects("goal", 1, keepout=0.305, size=0.3)
    env = Navigation(navigation.Task("Narrow", "point", "goal", 0.75, (goal,)), 2, 0)
    state = env.get_state()
    state["robot_q"][0, :2], state["spots"][0, 1], state["last_goal"][0] = 0.0, (0.1, 0.0), 0.1
    env.set_state(state)
    step = env.step(np.zeros((2, 2)))
    assert step.terminated.tolist() == [True, False] and not step.truncated.any()
    assert step.reward == pytest.approx([1, 0], abs=1e-6)
    assert env.get_state()["steps"].tolist() == [0, 1]
    assert (step.obs != step.last_obs).any(axis=1).tolist() == [True, False]


def test_the_goal_moves_only_when_reached_and_pays_one():
    env = navigation.make("SafetyPointGoal0-v0", 1, 2)
    state = env.get_state()
    goal = state["spots"][0, 1]
    state["robot_q"][0, :2] = goal + np.array([0.31, 0])
    state["last_goal"][0] = 0.31
    env.set_state(state)
    assert abs(env.step(np.zeros((1, 2))).reward[0]) < 1e-6
    np.testing.assert_array_equal(env.get_state()["spots"][0, 1], goal)
    state["robot_q"][0, :2] = goal + np.array([0.29, 0])
    env.set_state(state)
    assert env.step(np.zeros((1, 2))).reward[0] == pytest.approx(1.02, abs=1e-6)
    moved = env.get_state()["spots"][0]
    assert np.linalg.norm(moved[1] - moved[0]) >= 0.305 + 0.4


@pytest.mark.parametrize("level", [1, 2])
def test_circle_costs_beyond_the_walls(level):
    env = navigation.make(f"SafetyPointCircle{level}-v0", 4, 0)
    state = env.get_state()
    state["robot_q"][:, :2] = [(1.12, 0), (-1.13, 0), (0.5, 1.2), (0.5, -1.12)]
    env.set_state(state)
    assert env.step(np.zeros((4, 2))).cost.tolist() == [0, 1, float(level == 2), 0]


def test_the_turn_servo_chatters_like_the_original():
    commands = np.array([0.2, 0.5, 0.8, 1.0])
    env = navigation.make("SafetyPointGoal0-v0", 4, 0)
    start = env.get_state()["robot_q"][:, 2]
    for _ in range(900):
        env.step(np.stack([np.zeros(4), commands], axis=1))
    rate = (env.get_state()["robot_q"][:, 2] - start) / (900 * 0.02)
    np.testing.assert_allclose(rate, [0.493, 1.35, 2.44, 2.9988], rtol=0.02)


def test_errors_name_the_culprit():
    env = navigation.make("SafetyPointGoal1-v0", 3)
    with pytest.raises(ValueError, match=r"SafetyPointGoal1-v0: actions must have shape \(3, 2\)"):
        env.step(np.zeros((2, 2)))
    before = env.get_state()
    with pytest.raises(ValueError, match=r"action of environment 1 is not finite .*nan"):
        env.step(np.array([[0, 0], [0, np.nan], [0, 0]]))
    for name, array in env.get_state().items():
        np.testing.assert_array_equal(array, before[name])
    with pytest.raises(ValueError, match="did you mean SafetyPointGoal1-v0"):
        navigation.make("SafetyPointGaol1-v0", 1)
    with pytest.raises(ValueError, match="num_envs"):
        navigation.make("SafetyPointGoal1-v0", 0)
    with pytest.raises(ValueError, match="seed"):
        env.reset(-1)
    with pytest.raises(ValueError, match="physics"):
        navigation.make("SafetyPointGoal1-v0", 1, physics="bullet")  # pyright: ignore
    with pytest.raises(ValueError, match="lacks 'timer'"):
        env.set_state({name: array for name, array in before.items() if name != "timer"})


@pytest.mark.parametrize(
    "id", ["SafetyPointGoal2-v0", "SafetyCarPush2-v0", "SafetyPointCircle1-v0"]
)
def test_renders_what_is_there(id):
    env = navigation.make(id, 2, 0)
    before = env.render(1, 96, 64)
    assert before.shape == (64, 96, 3) and before.dtype == np.uint8
    assert before.std() > 5
    np.testing.assert_array_equal(env.render(1, 96, 64), before)
    env.step(np.ones((2, 2)))
    assert (env.render(0, 96, 64) != before).any()
    env.close()
