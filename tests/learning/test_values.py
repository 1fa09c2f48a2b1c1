"""Value rules against the exact values of a small Markov chain, and against NumPy."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from test_learner import EXPERIMENT, A, O, batch

from shapo.learning.learner import Learner
from shapo.learning.values import Ensemble, Mean, Trajectory, Wcpg
from shapo.rules.networks import Layer
from shapo.types import Progress

DISCOUNT = 0.8
# From state 0 one goes to 0, 0, 1 or 2, from 1 to 1, 2, 2 or 2, each as likely; 2 is the last and ends.
NEXT = np.array([[0, 0, 1, 2], [1, 2, 2, 2], [2, 2, 2, 2]])
REWARD = np.array([[1.0, -1.0, 2.0, 5.0], [0.5, 4.0, -2.0, 1.0], [3.0, 0.0, 1.0, -4.0]])
ENDS = np.repeat([False, False, True], 4)
CHAIN = np.array([[0.5, 0.25, 0.25], [0, 0.25, 0.75], [0, 0, 0]])


def exact():
    """Values and variances of the return, from the linear equations that they solve."""
    value = np.linalg.solve(np.eye(3) - DISCOUNT * CHAIN, REWARD.mean(1))
    later = np.where(ENDS.reshape(3, 4), 0.0, value[NEXT])
    error = REWARD + DISCOUNT * later - value[:, None]
    variance = np.linalg.solve(np.eye(3) - DISCOUNT**2 * CHAIN, (error**2).mean(1))
    return value, variance


def by_dice():
    """The same variances, of returns that were played out."""
    rng = np.random.default_rng(0)
    state, alive = np.repeat(np.arange(3), 40_000), np.ones(120_000, bool)
    returns, weight = np.zeros(120_000), 1.0
    for _ in range(60):
        choice = rng.integers(4, size=len(state))
        returns += np.where(alive, weight * REWARD[state, choice], 0.0)
        alive &= state < 2
        state, weight = NEXT[state, choice], weight * DISCOUNT
    return returns.reshape(3, -1)


def table(values):
    """A network that says so much of each state, which is seen as a unit vector."""
    return (Layer(jnp.asarray(values, jnp.float32)[:, None], jnp.zeros(1)),)


def every_transition():
    """Each once, side by side, one step long: a mean over those of a state is an expectation."""
    unit = np.eye(3, dtype=np.float32)
    rows = np.repeat(np.arange(3), 4)[None], NEXT.reshape(1, -1)
    flags = ENDS[None], np.zeros((1, 12), bool)
    obs, next_obs = (jnp.asarray(unit[each]) for each in rows)
    signal = jnp.asarray(REWARD.reshape(1, -1), jnp.float32)
    return Trajectory(signal, obs, next_obs, *map(jnp.asarray, flags), DISCOUNT, 0.0)


def judged(rule, tables, worse):
    """What a rule makes of every transition, given its critics' tables."""
    judge = jax.jit(lambda critics: rule.judge(critics, every_transition(), worse))
    return judge([table(each) for each in tables])


def fitted(rule, rounds=60):
    """Each critic's table, fitted to the mean of its targets again and again."""
    judge = jax.jit(lambda critics: rule.judge(critics, every_transition(), -1.0).targets)
    rng = np.random.default_rng(1)
    tables = [rng.normal(size=3) for _ in rule.critics]
    for _ in range(rounds):
        tables = [
            np.asarray(target).reshape(3, 4).mean(1) for target in judge(list(map(table, tables)))
        ]
    return tables


def test_the_exact_variance_is_that_of_the_returns():
    value, variance = exact()
    returns = by_dice()
    np.testing.assert_allclose(returns.mean(1), value, atol=0.05)
    np.testing.assert_allclose(returns.var(1), variance, rtol=0.03)


def test_every_member_of_an_ensemble_finds_the_value():
    for found in fitted(Ensemble(3)):
        np.testing.assert_allclose(found, exact()[0], rtol=1e-4)


def test_wcpg_s_critics_find_value_and_variance():
    for found, expected in zip(fitted(Wcpg()), exact(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize("alpha", [0.05, 0.5, 0.9])
def test_the_worst_share_of_a_gaussian(alpha):
    tail, _ = quad(lambda x: x * norm.pdf(x), -np.inf, norm.ppf(alpha))
    assert Wcpg(alpha).deviations == pytest.approx(-tail / alpha)
    assert Wcpg(1.0).deviations == 0


@pytest.mark.parametrize("worse", [-1.0, 1.0])
def test_advantages_see_the_pessimistic_values(worse):
    rng = np.random.default_rng(2)
    tables = rng.uniform(1, 3, (4, 3))
    of = lambda values: judged(Mean(), [values], worse).advantage
    doubted = tables.mean(0) + worse * 0.7 * tables.std(0)
    found = judged(Ensemble(4, 0.7), tables, worse).advantage
    np.testing.assert_allclose(found, of(doubted), rtol=1e-4, atol=1e-5)
    value, variance = tables[:2]
    worst = value + worse * Wcpg(0.3).deviations * np.sqrt(variance)
    found = judged(Wcpg(0.3), [value, variance], worse).advantage
    np.testing.assert_allclose(found, of(worst), rtol=1e-4, atol=1e-5)


def test_a_variance_that_a_critic_takes_for_negative_is_none():
    value, variance = [1.0, 2.0, 3.0], np.array([-1.0, 4.0, -1e-3])
    found = judged(Wcpg(0.3), [value, variance], -1.0).advantage
    expected = judged(Wcpg(0.3), [value, np.maximum(variance, 0)], -1.0).advantage
    np.testing.assert_array_equal(found, expected)


def test_without_pessimism_the_advantages_are_the_value_s():
    values = [1.0, 2.0, 3.0]
    plain = judged(Mean(), [values], -1.0)
    for rule in (Ensemble(2, 0.0), Ensemble(2, 5.0), Wcpg(1.0)):
        found = judged(rule, [values] * 2, -1.0)
        np.testing.assert_allclose(found.advantage, plain.advantage, rtol=1e-6)
        np.testing.assert_allclose(found.targets[0], plain.targets[0], rtol=1e-6)


@pytest.fixture(params=["ensemble", "wcpg"])
def learner(request):
    plain = {"gradient": "plain", "critic_gradient": "plain"}
    experiment = EXPERIMENT.replace(values=request.param, value_members=3, **plain)
    return Learner.build(experiment, O, A)


def test_a_learner_has_as_many_critics_and_targets_as_its_rule_wants(learner):
    state = learner.init(0)
    values = tuple(critic.params for critic in state.critics)
    weights = {critic[0].weight.tobytes() for critic in jax.device_get(values)}
    assert len(weights) == 2 * len(learner.values.critics)
    normalization = np.zeros(O, np.float32), np.ones(O, np.float32)
    now = Progress(*(np.float32(1),) * 3, np.ones(1, np.float32), *(np.float32(1),) * 2)
    done = jax.eval_shape(
        partial(Learner._improve, learner), state.policy, values, state.algorithm, normalization,
        batch(), now, state.key,
    )  # fmt: skip
    assert [target.shape for target in done.targets] == [(batch().reward.size,)] * len(values)


@pytest.mark.slow
def test_a_learner_learns_with_them(learner):
    _, metrics = learner.learn(learner.init(0), batch(), [12.0], 50.0)
    assert np.isfinite(list(metrics.values())).all()
    losses = {name for name in metrics if name.startswith("critic/")}
    ends = learner.values.critics
    assert losses == {f"critic/{of}{end}_loss" for of in ("reward", "cost") for end in ends}


@pytest.mark.parametrize(
    ("make", "culprit"),
    [(lambda: Ensemble(1), "Ensemble(members=1)"), (lambda: Wcpg(0.0), "Wcpg(alpha=0.0)")],
)
def test_bad_numbers_are_named(make, culprit):
    with pytest.raises(ValueError) as raised:
        make()
    assert culprit in str(raised.value)
