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
