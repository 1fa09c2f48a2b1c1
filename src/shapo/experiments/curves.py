"""A quantity over training, averaged over the runs of a group."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.runs.folder import Run
from shapo.runs.history import known_mean


class Curve(NamedTuple):
    """Mean and spread over runs, where every one of them has a value."""

    steps: NDArray[np.float64]
    mean: NDArray[np.float64]
    error: NDArray[np.float64]
    """Standard error; 0 where there is a single run."""


def mean_curve(runs: Sequence[Run], column: str, window: int = 1) -> Curve:
    """The column's mean and standard error over runs of one length, each smoothed over its last `window` iterations.

    A run that never recorded the column, because no episode of it ended, has no part in it.
    """
    smoothed = [_smooth(run.history.values(column), window) for run in runs]
    recorded = [values for values in smoothed if not np.isnan(values).all()]
    if not recorded:
        return Curve(np.empty(0), np.empty(0), np.empty(0))
    values = np.stack(recorded)
    everywhere = ~np.isnan(values).any(axis=0)
    steps, values = runs[0].history.values("steps")[everywhere], values[:, everywhere]
    several = len(values) > 1
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if several else np.zeros(len(steps))
    return Curve(steps, values.mean(axis=0), error)


def _smooth(values: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    """A running mean over what is known of the last `window` values, shorter at the beginning."""
    if window == 1:
        return values
    ends = range(1, len(values) + 1)
    return np.array([known_mean(values[max(0, end - window) : end]) for end in ends])
