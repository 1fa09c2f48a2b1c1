"""What a run's numbers come to, against the same numbers by hand."""

import numpy as np
import pytest

from shapo.runs.history import History, read_history


def history(steps, **columns):
    table = {"steps": steps, **columns}
    return History({name: np.array(values, float) for name, values in table.items()})


def test_final_is_the_last_tenth_of_the_steps():
    """Of the steps, not of the rows: where late iterations are longer, fewer rows count."""
    steps = [*range(100, 1000, 100), 2000, 3000]
    found = history(steps, reward=range(11))
    # Only the last row lies beyond 2700 steps.
    assert found.final("reward") == 10
    even = history(range(20, 1020, 20), reward=range(50))
    assert even.final("reward") == np.mean([45, 46, 47, 48, 49])


def test_final_passes_over_what_is_unknown():
    steps = range(1, 101)
    reward = [*range(90), np.nan, *range(9)]
    assert history(steps, reward=reward).final("reward") == np.mean(range(9))
    assert np.isnan(history(steps, reward=[1.0] * 90 + [np.nan] * 10).final("reward"))
    assert np.isnan(history(steps).final("reward"))


def test_a_row_of_an_archive_counts_as_often_as_iterations_it_stands_for():
    """3, 1 and 2 of them; what is unknown counts for none."""
    found = history([4, 5, 7], iteration=[2, 3, 5], reward=[np.nan, 2, 8])
    assert found.lengths.tolist() == [3, 1, 2]
    assert found.overall("reward") == pytest.approx((1 * 2 + 2 * 8) / 3)
    assert np.isnan(found.overall("cost"))


@pytest.mark.parametrize(
    ("asked", "rows"), [(1, 1), (100, 1), (101, 2), (250, 3), (300, 3), (10_000, 3)]
)
def test_until_ends_where_a_training_of_that_length_would(asked, rows):
    found = history([100, 200, 300], reward=[1, 2, 3]).until(asked)
    assert found.values("reward").tolist() == [1, 2, 3][:rows]


def test_of_several_costs_the_first_is_meant():
    several = history([1, 2], cost_1=[3, 4], cost_2=[5, 6])
    assert several.last("cost") == 4 and several.last("cost_2") == 6


def test_nothing_recorded_is_nothing(tmp_path):
    empty = read_history(tmp_path / "none.csv")
    assert empty.steps == 0 and np.isnan(empty.last("reward")) and np.isnan(empty.final("reward"))
