"""A quantity over training, averaged over the runs of a group."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.runs.archives import in_short
from shapo.runs.folder import Run
from shapo.runs.history import History, known_mean


class Curve(NamedTuple):
    """Mean and spread over runs, where every one of them has a value."""

    steps: NDArray[np.float64]
    mean: NDArray[np.float64]
    error: NDArray[np.float64]
    """Standard error; 0 where there is a single run."""


def mean_curve(runs: Sequence[Run], column: str, window: int = 1) -> Curve:
    """The column's mean and standard error over runs of one length, each smoothed over its last `window` iterations.

    A run that never recorded the column, because no episode of it ended, has no part in it. Beside runs of an archive
    others are taken as if they came from it, too.
    """
    histories = _with_common_rows([run.history for run in runs], column)
    smoothed = [_smooth(history, column, window) for history in histories]
    recorded = [values for values in smoothed if not np.isnan(values).all()]
    if not recorded:
        return Curve(np.empty(0), np.empty(0), np.empty(0))
    values = np.stack(recorded)
    everywhere = ~np.isnan(values).any(axis=0)
    steps, values = histories[0].values("steps")[everywhere], values[:, everywhere]
    several = len(values) > 1
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if several else np.zeros(len(steps))
    return Curve(steps, values.mean(axis=0), error)


def _with_common_rows(histories: Sequence[History], column: str) -> Sequence[History]:
    """As they are if their rows end at the same iterations; else with a row for each end that all of them have."""
    ends = [history.values("iteration") for history in histories]
    if all(np.array_equal(own, ends[0]) for own in ends):
        return histories
    common = functools.reduce(np.intersect1d, ends)
    return [_thinned(history, column, common) for history in histories]


def _thinned(history: History, column: str, iterations: NDArray[np.float64]) -> History:
    """With rows that end at these iterations, made of its own as an archive makes them."""
    ends = np.searchsorted(history.values("iteration"), iterations, side="right")
    stretches = (np.split(each, ends)[:-1] for each in (history.values(column), history.lengths))
    values = [in_short(column, *stretch) for stretch in zip(*stretches, strict=True)]
    steps = history.values("steps")[ends - 1]
    return History({"iteration": iterations, "steps": steps, column: np.array(values)})


def _smooth(history: History, column: str, window: int) -> NDArray[np.float64]:
    """A running mean over what is known of the last `window` iterations, shorter at the beginning.

    A row of an archive counts as many times as iterations that it stands for are among them.
    """
    values, lengths = history.values(column), history.lengths
    if window == 1:
        return values
    ends = np.cumsum(lengths)
    begins = ends - window
    firsts = np.searchsorted(ends, begins, side="right")
    found = []
    for last, (first, begin) in enumerate(zip(firsts, begins, strict=True)):
        rows = slice(first, last + 1)
        found.append(known_mean(values[rows], np.minimum(lengths[rows], ends[rows] - begin)))
    return np.array(found)
