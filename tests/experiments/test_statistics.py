"""Our statistics against rliable's and SciPy's."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from rliable import metrics

from shapo.experiments import statistics


@pytest.fixture
def scores():
    return np.random.default_rng(0).gamma(2.0, size=(10, 4))


@pytest.mark.parametrize("runs", [3, 5, 8, 10])
def test_interquartile_mean_equals_rliable(runs):
    scores = np.random.default_rng(runs).normal(size=(runs, 3))
    ours = statistics.interquartile_mean(list(scores.T))
    assert ours == pytest.approx(metrics.aggregate_iqm(scores), rel=1e-12)


def test_mean_and_standard_error_equal_rliable_and_scipy(scores):
    assert statistics.mean(list(scores.T)) == pytest.approx(metrics.aggregate_mean(scores))
    assert statistics.standard_error(scores[:, 0]) == pytest.approx(scipy.stats.sem(scores[:, 0]))
    assert np.isnan(statistics.standard_error([1.0]))


def test_probability_of_improvement_equals_rliable_ties_included():
    rng = np.random.default_rng(1)
    x, y = (
        rng.integers(0, 6, size=(7, 3)).astype(float),
        rng.integers(0, 6, size=(5, 3)).astype(float),
    )
    ours = statistics.probability_of_improvement(list(x.T), list(y.T))
    assert ours == pytest.approx(metrics.probability_of_improvement(x, y), rel=1e-12)


def test_bootstrap_interval_agrees_with_scipy(scores):
    """SciPy resamples each of several samples on its own, which is what stratified means."""
    strata = list(scores.T)
    ours = statistics.bootstrap(
        statistics.interquartile_mean, strata, rng=np.random.default_rng(2), repetitions=6000
    )
    theirs = scipy.stats.bootstrap(
        strata,
        lambda *tasks: metrics.aggregate_iqm(np.stack(tasks)),
        n_resamples=3000,
        vectorized=False,
        method="percentile",
        rng=np.random.default_rng(3),
    ).confidence_interval
    width = theirs.high - theirs.low
    assert ours.estimate == pytest.approx(metrics.aggregate_iqm(scores))
    np.testing.assert_allclose([ours.low, ours.high], theirs, atol=0.06 * width)


def test_bootstrap_of_two_groups_agrees_with_scipy():
    rng = np.random.default_rng(3)
    x, y = rng.normal(0.5, size=12), rng.normal(size=9)
    ours = statistics.bootstrap(
        statistics.probability_of_improvement,
        [x],
        [y],
        rng=np.random.default_rng(4),
        repetitions=6000,
        confidence=0.9,
    )
    theirs = scipy.stats.bootstrap(
        (x, y),
        lambda a, b: scipy.stats.mannwhitneyu(a, b).statistic / (a.size * b.size),
        n_resamples=3000,
        vectorized=False,
        method="percentile",
        confidence_level=0.9,
        rng=np.random.default_rng(5),
    ).confidence_interval
    np.testing.assert_allclose([ours.low, ours.high], theirs, atol=0.025)


def test_bootstrap_depends_on_the_generator_alone(scores):
    def interval(seed):
        rng = np.random.default_rng(seed)
        return statistics.bootstrap(statistics.mean, list(scores.T), rng=rng, repetitions=200)

    assert interval(0) == interval(0)
    assert interval(0) != interval(1)


def test_resampling_stays_within_a_task():
    """Runs that agree within a task leave no uncertainty, however far apart the tasks are."""
    strata = [np.zeros(4), np.full(6, 100.0)]
    interval = statistics.bootstrap(statistics.mean, strata, rng=np.random.default_rng(0))
    assert interval == (50.0, 50.0, 50.0)


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_paired_difference_equals_scipy(confidence):
    rng = np.random.default_rng(6)
    baseline = rng.normal(size=5)
    treated = baseline + rng.normal(0.3, 0.1, size=5)
    theirs = scipy.stats.ttest_rel(treated, baseline).confidence_interval(confidence)
    ours = statistics.paired_difference(treated, baseline, confidence)
    np.testing.assert_allclose(ours, [np.mean(treated - baseline), *theirs])


def test_one_pair_says_nothing():
    assert statistics.paired_difference([3.0], [1.0]) == (2.0, -np.inf, np.inf)


POINTS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=12)


@given(POINTS)
def test_pareto_front_is_what_no_point_beats(points):
    returns, costs = np.array(points, float).T
    front = {points[i] for i in statistics.pareto_front(returns, costs)}
    unbeaten = {
        (r, c)
        for r, c in points
        if not any((r2 >= r and c2 <= c) and (r2, c2) != (r, c) for r2, c2 in points)
    }
    assert front == unbeaten


@given(POINTS)
def test_hypervolume_counts_the_beaten_cells(points):
    """On integer points the area is the number of unit cells that some point beats."""
    returns, costs = np.array(points, float).T
    worst_return, worst_cost = 2, 6
    cells = sum(
        any(c <= x and r >= y + 1 for r, c in points)
        for x in range(worst_cost)
        for y in range(worst_return, 8)
    )
    assert statistics.hypervolume(returns, costs, worst_return, worst_cost) == pytest.approx(cells)


@pytest.mark.parametrize("bad", [[], [1.0, np.nan], [[1.0, 2.0]]])
def test_scores_that_are_not_numbers_are_named(bad):
    with pytest.raises(ValueError, match=r"scores|finite"):
        statistics.bootstrap(statistics.mean, [bad], rng=np.random.default_rng(0))
