"""Closed form and tables where nothing touches, against MuJoCo for everything, from the same state at every step."""

from typing import NamedTuple

import numpy as np
import pytest
from contact_watch import Watch

from shapo.envs import navigation
from shapo.envs.navigation.seeker import seek, seek_everything
from shapo.envs.navigation.state import LOOSE

SAMPLE = (
    "SafetyPointGoal1-v0", "SafetyPointGoal2-v0", "SafetyPointButton1-v0", "SafetyPointPush2-v0",
    "SafetyPointCircle2-v0", "SafetyCarGoal2-v0", "SafetyCarButton1-v0", "SafetyCarPush2-v0",
)  # fmt: skip
RUN_AT = ("SafetyPointGoal2-v0", "SafetyPointButton2-v0", "SafetyCarPush2-v0")
CONTINUOUS = ("robot_q", "robot_v", "sensors", "body_q", "body_v", "spots", "last_goal", "last_box")


def _random(env, rng):
    return rng.uniform(-1, 1, (env.num_envs, 2))


def _seek(env, rng):
    return seek(env)


def _seek_everything(env, rng):
    return seek_everything(env)


POLICIES = (_random, _seek, _seek_everything)


class Agreement(NamedTuple):
    """What a run of both physics showed."""

    worst: float
    """The largest difference of any state, observation or reward."""
    touched: int
    """Steps that ended with a robot touching something."""
    missed: tuple
    """Contacts that the hybrid did not let MuJoCo see, in any substep (what counts: `contact_watch`)."""
    seen: int
    """And contacts that it did."""


def _compare(id, policy, num_envs, steps, seed=0):
    """Step both from the hybrid's state."""
    hybrid = navigation.make(id, num_envs, seed)
    mujoco = navigation.make(id, num_envs, seed, physics="mujoco")
    watch, rng = Watch(mujoco), np.random.default_rng(seed)
    worst, touched, missed, seen = 0.0, 0, [], 0
    for _ in range(steps):
        mujoco.set_state(hybrid.get_state())
        action = policy(hybrid, rng)
        ours, theirs = hybrid.step(action), watch.step(action)
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
        found = watch.missed(hybrid)
        missed, seen = missed + found[0], seen + found[1]
    return Agreement(float(worst), touched, tuple(missed), seen)


@pytest.mark.parametrize("id", SAMPLE)
def test_hybrid_is_mujoco(id):
    worst, touched, seen = 0.0, 0, 0
    for policy in POLICIES:
        steps = 200 if policy is _seek_everything else 60
        run = _compare(id, policy, num_envs=3, steps=steps, seed=5)
        worst, touched, seen = max(worst, run.worst), touched + run.touched, seen + run.seen
        assert not run.missed
    assert worst <= 1e-8
    assert (touched > 0 and seen > 0) or "Circle" in id


def test_vases_that_lean_on_each_other_do_not_rest():
    """In this episode two vases come to touch; slow at the end of a step, they go on to rock at 2e-8 rad/s."""
    id, chosen, worst, slow = "SafetyCarGoal2-v0", slice(12, 13), 0.0, 0
    hybrid = navigation.make(id, 13, 0)
    mujoco = navigation.make(id, 1, 0, physics="mujoco")
    watch = Watch(mujoco)
    for _ in range(120):
        mujoco.set_state({name: array[chosen] for name, array in hybrid.get_state().items()})
        action = seek_everything(hybrid)
        hybrid.step(action)
        watch.step(action[chosen])
        after, truth = hybrid.get_state(), mujoco.get_state()
        worst = max(worst, np.abs(after["body_v"][chosen] - truth["body_v"]).max())
        for b in watch.leaning(0):
            assert after["status"][12, b] == LOOSE
            slow += np.abs(truth["body_v"][0, b]).max() < 5e-9
    assert worst <= 1e-8
    assert slow > 0


@pytest.mark.slow
@pytest.mark.parametrize("id", navigation.TASKS)
@pytest.mark.parametrize("policy", POLICIES)
def test_hybrid_is_mujoco_for_fifty_episodes(id, policy):
    run = _compare(id, policy, num_envs=50, steps=navigation.TASKS[id].horizon)
    print(f"{id} {policy.__name__}: {run._replace(missed=len(run.missed))}")
    assert not run.missed
    assert run.worst <= 1e-8


def _put_beside_something(state, rules, rng):
    """The state with each robot put in front of a solid or a body that it runs at, near the end of the guard's reach.

    A robot moves as it does wherever it is, so speed, heading and turning stay what a real episode made them.
    """
    state = {name: array.copy() for name, array in state.items()}
    n = len(state["steps"])
    solids, bodies = rules.num_solids, rules.num_bodies
    k = rng.integers(solids + bodies, size=n)
    target = np.where(k < solids, rules.first_solid + k, rules.first_body + k - solids)
    radius = np.where(k < solids, rules.size[target], rules.body_radius)
    distance = rules.robot_radius + radius + rng.uniform(-0.1, 0.05, n)
    ahead = np.arctan2(state["robot_v"][:, 1], state["robot_v"][:, 0]) + rng.uniform(-0.5, 0.5, n)
    away = distance[:, None] * np.stack([np.cos(ahead), np.sin(ahead)], axis=1)
    state["robot_q"][:, :2] = state["spots"][:, 0] = state["spots"][np.arange(n), target] - away
    return state


def _run_at_things(id, num_envs, steps, seed=0):
    """(missed, seen) contacts in single steps from states that a run came by, but with each robot beside something."""
    course, hybrid = navigation.make(id, num_envs, seed), navigation.make(id, num_envs, seed)
    watch = Watch(navigation.make(id, num_envs, seed, physics="mujoco"))
    rng = np.random.default_rng(seed)
    missed, seen = [], 0
    for _ in range(steps):
        state = _put_beside_something(course.get_state(), course.rules, rng)
        hybrid.set_state(state)
        watch.env.set_state(state)
        action = _random(course, rng)
        hybrid.step(action)
        watch.step(action)
        found = watch.missed(hybrid)
        missed, seen = missed + found[0], seen + found[1]
        course.step(seek(course))
    return missed, seen


@pytest.mark.parametrize("id", RUN_AT)
def test_no_contact_is_missed_just_beyond_reach(id):
    missed, seen = _run_at_things(id, num_envs=10, steps=50)
    assert not missed
    assert seen > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "id", [id for id in navigation.TASKS if "Goal0" not in id and "Circle" not in id]
)
def test_no_contact_is_ever_missed_just_beyond_reach(id):
    missed, seen = _run_at_things(id, num_envs=50, steps=1000)
    print(f"{id}: {len(missed)} missed, {seen} seen")
    assert not missed


@pytest.mark.parametrize(
    "id", ["SafetyPointGoal2-v0", "SafetyPointButton1-v0", "SafetyCarGoal1-v0"]
)
def test_most_steps_need_no_mujoco(id):
    env, rng, stepped = navigation.make(id, 8, 1), np.random.default_rng(0), 0
    for _ in range(200):
        env.step(_random(env, rng))
        stepped += len(env.in_mujoco)
    assert stepped < 0.5 * 8 * 200
