"""Closed form and tables where nothing touches, against MuJoCo for everything, from the same state at every step."""

import numpy as np
import pytest

from shapo.envs import navigation
from shapo.envs.navigation.seeker import seek, seek_everything

SAMPLE = (
    "SafetyPointGoal1-v0", "SafetyPointGoal2-v0", "SafetyPointButton1-v0", "SafetyPointPush2-v0",
    "SafetyPointCircle2-v0", "SafetyCarGoal2-v0", "SafetyCarButton1-v0", "SafetyCarPush2-v0",
)  # fmt: skip
CONTINUOUS = ("robot_q", "robot_v", "sensors", "body_q", "body_v", "spots", "last_goal", "last_box")


def _random(env, rng):
    return rng.uniform(-1, 1, (env.num_envs, 2))


def _seek(env, rng):
    return seek(env)


def _seek_everything(env, rng):
    return seek_everything(env)


POLICIES = (_random, _seek, _seek_everything)


def _worst_disagreement(id, policy, num_envs, steps, seed=0):
    """Step both from the hybrid's state; returns the worst error and how many robots touched something."""
    hybrid = navigation.make(id, num_envs, seed)
    mujoco = navigation.make(id, num_envs, seed, physics="mujoco")
    rng = np.random.default_rng(seed)
    worst, touched = 0.0, 0
    for _ in range(steps):
        mujoco.set_state(hybrid.get_state())
        action = policy(hybrid, rng)
        ours, theirs = hybrid.step(action), mujoco.step(action)
        np.testing.assert_array_equal(hybrid.touching, mujoco.touching)
        np.testing.assert_array_equal(ours.cost, theirs.cost)
        np.testing.assert_array_equal(ours.terminated, theirs.terminated)
        np.testing.assert_array_equal(ours.truncated, theirs.truncated)
        touched += int(mujoco.touching.any(axis=1).sum())
        after, truth = hybrid.get_state(), mujoco.get_state()
        np.testing.assert_array_equal(after["goal_button"], truth["goal_button"])
        np.testing.assert_array_equal(after["words"], truth["words"])
        errors = [np.abs(after[name] - truth[name]).max(initial=0.0) for name in CONTINUOUS]
        errors.append(np.abs(ours.last_obs - theirs.last_obs).max())
        errors.append(np.abs(ours.reward - theirs.reward).max())
        worst = max(worst, *errors)
    return worst, touched


@pytest.mark.parametrize("id", SAMPLE)
def test_hybrid_is_mujoco(id):
    worst, touched = 0.0, 0
    for policy in POLICIES:
        steps = 200 if policy is _seek_everything else 60
        error, count = _worst_disagreement(id, policy, num_envs=3, steps=steps, seed=5)
        worst, touched = max(worst, error), touched + count
    assert worst <= 1e-8
    assert touched > 0 or "Circle" in id


@pytest.mark.slow
@pytest.mark.parametrize("id", navigation.TASKS)
@pytest.mark.parametrize("policy", POLICIES)
def test_hybrid_is_mujoco_for_fifty_episodes(id, policy):
    worst, _ = _worst_disagreement(id, policy, num_envs=50, steps=navigation.TASKS[id].horizon)
    assert worst <= 1e-8


@pytest.mark.parametrize("id", ["SafetyPointGoal2-v0", "SafetyPointButton1-v0"])
def test_most_steps_need_no_mujoco(id):
    env, rng, stepped = navigation.make(id, 8, 1), np.random.default_rng(0), 0
    for _ in range(200):
        env.step(_random(env, rng))
        stepped += len(env.in_mujoco)
    assert stepped < 0.5 * 8 * 200
