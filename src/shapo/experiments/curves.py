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

    An archive has fewer rows than a folder; together they have a value where all of them have a row. A run that never
    recorded the column, because no episode of it ended, has no part in it.
    """
    histories = [run.history for run in runs]
    recorded = [each for each in histories if not np.isnan(each.values(column)).all()]
    if not recorded:
        return Curve(np.empty(0), np.empty(0), np.empty(0))
    shared = functools.reduce(np.intersect1d, [each.values("iteration") for each in recorded])
    values = np.stack([_at(shared, each, column, window) for each in recorded])
    everywhere = ~np.isnan(values).any(axis=0)
    steps = recorded[0].values("steps")[_rows_at(shared, recorded[0])][everywhere]
    values = values[:, everywhere]
    several = len(values) > 1
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if several else np.zeros(len(steps))
    return Curve(steps, values.mean(axis=0), error)


def _rows_at(iterations: NDArray[np.float64], history: History) -> NDArray[np.bool_]:
    """Which of its rows end at one of these iterations."""
    return np.isin(history.values("iteration"), iterations)


def _at(
    iterations: NDArray[np.float64], history: History, column: str, window: int
) -> NDArray[np.float64]:
    """A value for each of these iterations; of rows in between, what an archive would keep of them."""
    rows, values = _rows_at(iterations, history), _smooth(history, column, window)
    if window > 1 or rows.all():
        return values[rows]
    stretches = np.split(values, np.flatnonzero(rows)[:-1] + 1)
    return np.array([in_short(column, stretch) for stretch in stretches])


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
