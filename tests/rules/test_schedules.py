import re
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from shapo.algorithms import cup, trpo_pid
from shapo.learning.values import Ensemble
from shapo.rules.critics import Critics
from shapo.rules.epochs import Epochs
from shapo.rules.gradients import Sam, Shapo
from shapo.rules.multipliers import Ascent, Barrier, Bounded, Pid
from shapo.rules.objectives import Switching, as_limits
from shapo.rules.schedules import (
    Alpha,
    Decay,
    EffectiveAlpha,
    autocorrelation_time,
    implied_alpha,
    now,
)
from shapo.rules.steps import FisherSolver, TrustRegion
from shapo.types import Progress
from shapo.words import BadInput

NAN = float("nan")


def at(iteration=0, samples=20_000.0, effective=500.0):
    return Progress(
        jnp.asarray(iteration), jnp.asarray(samples), jnp.asarray(effective), 0.0, 1.0, 1.0
    )


@pytest.mark.parametrize(("alpha", "radius"), [(0.01, 1.35e-4), (0.05, 6.76e-5), (0.4, 1.6e-6)])
def test_fixed_alpha_at_20_000_samples(alpha, radius):
    """The paper's formula by SciPy's quantiles, and rounded values worked out by hand."""
    np.testing.assert_allclose(Alpha(alpha)(at()), norm.ppf(alpha) ** 2 / 40_000, rtol=1e-5)
    np.testing.assert_allclose(Alpha(alpha)(at()), radius, rtol=0.02)
    np.testing.assert_allclose(EffectiveAlpha(alpha)(at()), norm.ppf(alpha) ** 2 / 1000, rtol=1e-5)


def test_alpha_and_radius_are_two_readings_of_one_thing():
    for alpha in (0.01, 0.1, 0.4):
        np.testing.assert_allclose(
            implied_alpha(Alpha(alpha)(at()), at().samples), alpha, rtol=1e-4
        )
    np.testing.assert_allclose(implied_alpha(1e-5, 100_000.0), norm.cdf(-np.sqrt(2)), rtol=1e-5)


def test_decay():
    np.testing.assert_allclose(Decay(1e-4)(at(iteration=8)), 1e-4 / 3, rtol=1e-6)


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9, 0.97])
def test_autocorrelation_time_of_an_ar1_process(phi):
    """x_t = φ x_{t−1} + noise has τ = (1 + φ)/(1 − φ)."""
    rng = np.random.default_rng(0)
    x = np.zeros((4000, 20))
    for t in range(1, 4000):
        x[t] = phi * x[t - 1] + rng.normal(size=20)
    found = autocorrelation_time(jnp.asarray(x, jnp.float32))
    np.testing.assert_allclose(found, (1 + phi) / (1 - phi), rtol=0.12)


def geyer(series):
    """τ by its definition: every product at every lag, of series that share one mean, and pairs until one fails."""
    centred, steps = series - series.mean(), len(series)
    rho = [(centred[: steps - lag] * centred[lag:]).sum() for lag in range(steps)]
    total, pairs = 0.0, zip(rho[::2], rho[1::2], strict=False)
    for pair in pairs:
        if sum(pair) <= 0:
            break
        total += sum(pair) / rho[0]
    return max(1.0, 2 * total - 1)


@pytest.mark.parametrize("steps", [1, 2, 9, 40])
@pytest.mark.parametrize("level", [0.0, 1.0])
def test_autocorrelation_time_is_that_of_short_series_by_definition(steps, level):
    """Each with a level of its own, or not: an environment that is better for long is no noise."""
    rng, found = np.random.default_rng(steps), jax.jit(autocorrelation_time)
    for _ in range(10):
        walk = np.cumsum(rng.normal(size=(steps, 3)), axis=0) * 0.3 + rng.normal(size=(steps, 3))
        series = walk + level * rng.normal(size=3)
        np.testing.assert_allclose(found(series.astype(np.float32)), geyer(series), rtol=1e-3)


def test_autocorrelation_time_of_a_constant_is_finite():
    assert np.isfinite(autocorrelation_time(jnp.ones((50, 2))))


@pytest.mark.parametrize(
    ("make", "culprit"),
    [
        (lambda: Shapo(-1e-4), "Shapo(radius=-0.0001)"),
        (lambda: Shapo(NAN), "Shapo(radius=nan)"),
        (lambda: Shapo("fixed"), "Shapo(radius='fixed')"),
        (lambda: Shapo(np.float32("inf")), "Shapo(radius=np.float32(inf))"),
        (lambda: Shapo(True), "Shapo(radius=True)"),
        (lambda: Sam(-0.1), "Sam(rho=-0.1)"),
        (lambda: Alpha(0.7), "Alpha(alpha=0.7)"),
        (lambda: EffectiveAlpha(0.0), "EffectiveAlpha(alpha=0.0)"),
        (lambda: Decay(-1.0), "Decay(radius=-1.0)"),
        (lambda: TrustRegion(0.0), "TrustRegion(radius=0.0)"),
        (lambda: Epochs(stop_kl=-1.0), "Epochs(stop_kl=-1.0)"),
        (lambda: Epochs(minibatch=0), "Epochs(minibatch=0)"),
        (lambda: Switching((1.0,), NAN), "Switching(tolerance=nan)"),
        (lambda: Ascent(initial=-1.0), "Ascent(initial=-1.0)"),
        (lambda: Pid(kd=NAN), "Pid(kd=nan)"),
        (lambda: Pid(delay=0), "Pid(delay=0)"),
        (lambda: Bounded(most=-1.0), "Bounded(most=-1.0)"),
        (lambda: Barrier(sharpness=0.0), "Barrier(sharpness=0.0)"),
        (lambda: Critics(minibatch=0), "Critics(minibatch=0)"),
        (lambda: Critics(decay=-1.0), "Critics(decay=-1.0)"),
        (lambda: FisherSolver(damping=-0.1), "FisherSolver(damping=-0.1)"),
        (lambda: cup(cost_limit=1.0, gae=NAN), "Corrected(weight=nan)"),
        (lambda: Ensemble(beta=NAN), "Ensemble(beta=nan)"),
    ],
)
def test_bad_numbers_are_named(make, culprit):
    with pytest.raises(ValueError) as raised:
        make()
    assert culprit in str(raised.value)


@pytest.mark.parametrize(
    ("found", "said"),
    [(np.ones(1), r"an array \(1,\)"), (jnp.ones(2), r"an array \(2,\)"), (None, "a NoneType"), ("1", "a str")],
)  # fmt: skip
def test_a_schedule_that_returns_no_number_is_named(found, said):
    def mine(progress):
        return found

    with pytest.raises(BadInput, match=f"schedule <function .*mine.* returned {said}; return one"):
        now(mine, at())


@pytest.mark.parametrize("found", [2, 2.0, np.float32(2), np.array(2.0), jnp.array(2.0)])
def test_a_schedule_may_return_any_number(found):
    assert now(lambda progress: found, at()) is found


@pytest.mark.parametrize("kind", [np.float32, np.float64, Fraction])
def test_numbers_of_other_libraries_are_numbers(kind):
    found = now(Sam(kind(0.0625)).rho, at())
    assert (type(found), found) == (float, 0.0625)
    assert now(TrustRegion(np.int64(3)).radius, at()) == 3.0
    np.testing.assert_allclose(Decay(kind(0.0625))(at(iteration=3)), 0.03125)


@pytest.mark.parametrize(
    "given", [10, 10.0, np.float32(10), np.int64(10), [10.0], (np.float64(10),)]
)
def test_limits_are_numbers_one_or_several(given):
    assert trpo_pid(cost_limit=given) == trpo_pid(cost_limit=(10.0,))


def test_several_limits_may_be_a_list():
    assert as_limits([10, np.float32(2)]) == (10.0, 2.0)


@pytest.mark.parametrize(
    "given", [-1, float("nan"), np.float32("nan"), float("inf"), True, "10", (), [], [3.0, -1.0], [[3.0]]]
)  # fmt: skip
def test_limits_that_are_none_are_named(given):
    with pytest.raises(ValueError, match=re.escape(f"cost_limit={given!r}: give a finite number")):
        trpo_pid(cost_limit=given)
