"""Our statistics against rliable's and SciPy's."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from rliable import metrics

from shapo.experiments import statistics


def test_standard_error_equals_scipy():
    scores = np.random.default_rng(0).gamma(2.0, size=10)
    assert statistics.standard_error(scores) == pytest.approx(scipy.stats.sem(scores))
    assert np.isnan(statistics.standard_error([1.0]))


def test_probability_of_improvement_equals_rliable_ties_included():
    rng = np.random.default_rng(1)
    x, y = (rng.integers(0, 6, size=runs).astype(float) for runs in (7, 5))
    ours = statistics.probability_of_improvement(x, y)
    assert ours == pytest.approx(
        metrics.probability_of_improvement(x[:, None], y[:, None]), rel=1e-12
    )


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_paired_difference_equals_scipy(confidence):
    rng = np.random.default_rng(6)
    baseline = rng.normal(size=5)
    treated = baseline + rng.normal(0.3, 0.1, size=5)
    theirs = scipy.stats.ttest_rel(treated, baseline).confidence_interval(confidence)
    ours = statistics.paired_difference(treated, baseline, confidence)
    np.testing.assert_allclose(ours, [np.mean(treated - baseline), *theirs])


@pytest.mark.parametrize("differences", [1, 4])
def test_what_was_foreseen_is_what_seeds_of_that_spread_give(differences):
    seeds, spread = 5, 3.5
    rng = np.random.default_rng(2)
    side = lambda: spread * scipy.stats.zscore(rng.standard_normal(seeds), ddof=1)
    samples = [
        (weight / differences, values)
        for _ in range(differences)
        for weight, values in statistics.apart(side(), side())
    ]
    interval, _ = statistics.weighted_means(samples)
    reach = statistics.foreseen_reach(spread, seeds, differences)
    assert reach == pytest.approx(interval.high - interval.estimate)
    assert reach == pytest.approx(interval.estimate - interval.low)


def test_weighted_means_are_welchs_test_and_students():
    rng = np.random.default_rng(2)
    ours, theirs = rng.normal(1, 3, size=5), rng.normal(size=8)
    for samples, expected in (
        (statistics.apart(ours, theirs), scipy.stats.ttest_ind(ours, theirs, equal_var=False)),
        (statistics.in_pairs(ours, theirs[:5]), scipy.stats.ttest_rel(ours, theirs[:5])),
        ([(1.0, ours)], scipy.stats.ttest_1samp(ours, 0)),
    ):
        interval, p = statistics.weighted_means(samples)
        np.testing.assert_allclose(interval[1:], expected.confidence_interval())
        assert p == pytest.approx(expected.pvalue)


def test_of_means_that_are_equal_one_in_twenty_seems_to_differ():
    """Of five runs each; were they paired wherever they happen to run alike, one in fifteen would."""
    rng, levels = np.random.default_rng(0), []
    for samples in (2, 8):
        spreads = 1 + np.arange(samples)
        found = [
            statistics.weighted_means(
                [((-1) ** i, spread * rng.standard_normal(5)) for i, spread in enumerate(spreads)]
            )
            for _ in range(4000)
        ]
        levels.append(np.mean([p < 0.05 for _, p in found]))
        covered = np.mean([interval.low < 0 < interval.high for interval, _ in found])
        assert covered == pytest.approx(1 - levels[-1])
    assert all(0.035 < level < 0.055 for level in levels), levels


def test_of_two_arms_that_are_equal_at_most_one_in_twenty_seems_to_differ():
    rng = np.random.default_rng(0)
    found = [
        statistics.weighted_means(statistics.apart(*rng.standard_normal((2, 5))))
        for _ in range(2000)
    ]
    assert np.mean([p < 0.05 for _, p in found]) < 0.05
    assert np.mean([interval.low < 0 < interval.high for interval, _ in found]) > 0.95


def test_what_never_varies_is_certain():
    assert statistics.weighted_means([(1.0, [2.0, 2.0])]) == ((2.0, 2.0, 2.0), 0.0)
    assert statistics.weighted_means([(1.0, [0.0, 0.0])]) == ((0.0, 0.0, 0.0), 1.0)


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
    with pytest.raises(ValueError, match="treated: need finite numbers"):
        statistics.paired_difference(bad, [1.0, 2.0])
