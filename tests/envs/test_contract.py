"""Laws that every environment keeps, whatever kind it is."""

from functools import partial

import gymnasium
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shapo import envs
from shapo.envs import BatchEnv, Saute


def _fast(obs, action, info):
    return float(abs(obs[-1]) > 0.5)


def _saute(num_envs: int) -> Saute:
    return Saute(envs.make("Hopper-v4", num_envs), budget=0.5, discount=0.99)


KINDS = {
    "navigation": partial(envs.make, "SafetyPointGoal1-v0"),
    "navigation with gremlins": partial(envs.make, "SafetyPointButton1-v0"),
    "falling": partial(envs.make, "Walker2d-v4"),
    "speeding": partial(envs.make, "SafetyHopperVelocity-v1"),
    "many senses": partial(envs.make, "Humanoid-v4"),
    "gymnasium": partial(envs.make, "Pendulum-v1", cost=_fast),
    "gymnasium, discrete": partial(envs.make, "CartPole-v1", cost=_fast),
    "saute": _saute,
}
law = settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
seeds = st.integers(0, 10**6)
every_kind = pytest.mark.parametrize("kind", KINDS)


def actions(env: BatchEnv, seed: int, steps: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if isinstance(env.action_space, gymnasium.spaces.Discrete):
        return rng.integers(env.action_space.n, size=(steps, env.num_envs))
    shape = (steps, env.num_envs, *env.action_space.shape)
    return rng.uniform(env.action_space.low, env.action_space.high, shape)


def assert_same(step: envs.Step, other: envs.Step) -> None:
    for name, ours, theirs in zip(step._fields, step, other, strict=True):
        np.testing.assert_array_equal(ours, theirs, err_msg=name)


@every_kind
def test_is_a_batch_env(kind):
    env = KINDS[kind](2)
    assert isinstance(env, BatchEnv)
    env.close()


@every_kind
@law
@given(seed=seeds, before=st.integers(0, 60), after=st.integers(1, 60))
def test_state_round_trips(kind, seed, before, after):
    """A batch restored into a fresh environment continues bit for bit."""
    env, fresh = KINDS[kind](2), KINDS[kind](2)
    obs = env.reset(seed)
    plan = actions(env, seed, before + after)
    for action in plan[:before]:
        obs = env.step(action).obs
    state = env.get_state()
    assert all(len(array) == 2 and array.dtype != object for array in state.values())
    fresh.reset(seed + 77)
    np.testing.assert_array_equal(fresh.set_state(state), obs)
    for action in plan[before:]:
        assert_same(env.step(action), fresh.step(action))
    for name, array in fresh.get_state().items():
        np.testing.assert_array_equal(array, env.get_state()[name], err_msg=name)


@every_kind
@law
@given(seed=seeds, first=st.integers(1, 3), steps=st.integers(1, 60))
def test_a_batch_can_be_split(kind, seed, first, steps):
    """Environment i depends on seed + i alone, not on who else is in the batch."""
    whole, left, right = KINDS[kind](4), KINDS[kind](first), KINDS[kind](4 - first)
    np.testing.assert_array_equal(
        whole.reset(seed), np.concatenate([left.reset(seed), right.reset(seed + first)])
    )
    for action in actions(whole, seed, steps):
        parts = zip(left.step(action[:first]), right.step(action[first:]), strict=True)
        joined = (None if a is None else np.concatenate([a, b]) for a, b in parts)
        assert_same(whole.step(action), envs.Step(*joined))


@every_kind
@law
@given(seed=seeds, first=st.integers(1, 3), steps=st.integers(0, 30))
def test_without_a_seed_each_goes_on_with_what_it_draws_next(kind, seed, first, steps):
    """New episodes, wherever the old ones were, that depend on seed + i and its past alone."""
    whole, left, right = KINDS[kind](4), KINDS[kind](first), KINDS[kind](4 - first)
    begun = [whole.reset(seed), np.concatenate([left.reset(seed), right.reset(seed + first)])]
    plan = actions(whole, seed, steps + 20)
    for action in plan[:steps]:
        whole.step(action), left.step(action[:first]), right.step(action[first:])
    for _ in range(2):
        again = whole.reset(None)
        np.testing.assert_array_equal(again, np.concatenate([left.reset(None), right.reset(None)]))
        assert not any((again == before).all(axis=1).any() for before in begun)
        begun.append(again)
    fresh = KINDS[kind](4)
    np.testing.assert_array_equal(fresh.set_state(whole.get_state()), again)
    for action in plan[steps:]:
        assert_same(whole.step(action), fresh.step(action))


@every_kind
@law
@given(seed=seeds)
def test_steps_are_well_formed(kind, seed):
    env = KINDS[kind](3)
    space = env.observation_space
    obs = env.reset(seed)
    held = []
    for action in actions(env, seed, 60):
        step = env.step(action)
        ended = step.terminated | step.truncated
        for view in (step.obs, step.last_obs):
            assert view.shape == (3, *space.shape)
            assert view.dtype == np.float64
            assert np.isfinite(view).all()
            assert (view >= space.low).all() and (view <= space.high).all()
        np.testing.assert_array_equal(step.obs[~ended], step.last_obs[~ended])
        assert np.isfinite(step.reward).all()
        assert step.cost.shape == (3,)
        assert np.isin(step.cost, (0.0, 1.0)).all()
        held.append((step, [np.array(array) for array in step if array is not None]))
    assert not np.array_equal(obs, step.obs)
    for step, copies in held:  # arrays handed out are never written again
        for array, copy in zip((a for a in step if a is not None), copies, strict=True):
            np.testing.assert_array_equal(array, copy)


def test_a_step_prints_as_one_line():
    step = envs.Step(
        obs=np.zeros((3, 60)), reward=np.array([-0.5, 0.0, 2.0]), cost=np.array([[1.0, 0], [0, 0], [0, 2]]),
        terminated=np.array([True, False, False]), truncated=np.array([False, True, True]), last_obs=np.zeros((3, 60)),
    )  # fmt: skip
    assert repr(step) == (
        "Step(3 × 60 observations, reward -0.5 to 2, cost 3 in all, 1 terminated, 2 truncated)"
    )


@every_kind
def test_a_wrong_shape_is_refused(kind):
    env = KINDS[kind](3)
    env.reset(0)
    with pytest.raises(ValueError, match=rf"{env.id}: .*shape"):
        env.step(actions(env, 0, 1)[0][:2])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "discrete" not in kind])
def test_an_action_that_is_no_number_is_refused(kind):
    env = KINDS[kind](3)
    env.reset(0)
    action = actions(env, 0, 1)[0] + 0.001  # of many digits, wherever it is printed
    action[1, 0] = np.nan
    with pytest.raises(ValueError, match=rf"{env.id}: .*1.*not finite") as error:
        env.step(action)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("choice", [np.array([0, 2, 1]), np.array([0.0, 1.0, 1.0])])
def test_a_choice_that_is_none_is_refused(choice):
    env = KINDS["gymnasium, discrete"](3)
    env.reset(0)
    with pytest.raises(ValueError, match="CartPole-v1: actions"):
        env.step(choice)


def test_of_many_choices_the_wrong_one_is_named_in_a_line():
    choices = np.zeros(60, np.int64)
    choices[41:] = 2
    with pytest.raises(ValueError, match=r"^CartPole-v1: .* 0 to 1, that of environment 41 is 2$"):
        KINDS["gymnasium, discrete"](60).step(choices)


def test_a_state_of_another_size_is_refused():
    env, larger = envs.make("Hopper-v4", 2), envs.make("Hopper-v4", 3)
    larger.reset(0)
    with pytest.raises(ValueError, match="holds 3 environments, this batch 2"):
        env.set_state(larger.get_state())
    with pytest.raises(ValueError, match="Hopper-v4: the state lacks 'physics'"):
        env.set_state({})


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("id", envs.IDS)
def test_a_hundred_thousand_random_steps(id):
    env = envs.make(id, 20)
    env.reset(0)
    for action in actions(env, 0, 5000):
        step = env.step(action)
        assert np.isfinite(step.obs).all() and np.isin(step.cost, (0.0, 1.0)).all()
