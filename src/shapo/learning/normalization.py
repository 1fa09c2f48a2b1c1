"""Running mean and variance of observations, frozen during a batch and merged exactly after it.

Works on NumPy and JAX arrays alike, so that acting and learning normalise with one function. The statistics themselves
live in float64 on the host: ten million samples are more than float32 can count.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.rollout.acting import CLIP

FLOOR = 1e-2
"""No standard deviation counts as less, so that a constant feature does not amplify rounding."""


class Statistics(NamedTuple):
    """Count, mean and summed squared deviation of all observations seen."""

    count: np.float64
    mean: NDArray[np.float64]
    """[O]"""
    deviation: NDArray[np.float64]
    """[O] Σ (x − mean)²"""


def nothing_seen(observation_size: int) -> Statistics:
    """The statistics before the first observation."""
    return Statistics(np.float64(0), np.zeros(observation_size), np.zeros(observation_size))


def statistics_of(obs: NDArray) -> Statistics:
    """Of rows [M, O]."""
    rows = np.asarray(obs, np.float64).reshape(-1, np.shape(obs)[-1])
    mean = rows.mean(0)
    return Statistics(np.float64(len(rows)), mean, ((rows - mean) ** 2).sum(0))


def unnormalized(count: int, moments: tuple[Any, Any], mean: NDArray, scale: NDArray) -> Statistics:
    """From the mean and squared deviation of *normalised* observations: near 0 and 1 float32 is at its best."""
    centre, deviation = (np.asarray(x, np.float64) for x in moments)
    return Statistics(
        np.float64(count), mean + scale * centre, scale.astype(np.float64) ** 2 * deviation
    )


def merge(a: Statistics, b: Statistics) -> Statistics:
    """The statistics of both sets together (Chan, Golub and LeVeque)."""
    count = a.count + b.count
    shift = b.mean - a.mean
    return Statistics(
        count,
        a.mean + shift * b.count / count,
        a.deviation + b.deviation + shift**2 * a.count * b.count / count,
    )


def frozen(statistics: Statistics) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The mean and the scale that a batch is normalised with, [O] each; 0 and 1 where nothing was seen."""
    if statistics.count == 0:
        return np.zeros_like(statistics.mean, np.float32), np.ones_like(statistics.mean, np.float32)
    scale = np.maximum(np.sqrt(statistics.deviation / statistics.count), FLOOR)
    return statistics.mean.astype(np.float32), scale.astype(np.float32)


def normalize(obs: Any, mean: Any, scale: Any) -> Any:
    """(obs − mean) / scale, clipped; NumPy in, NumPy out, and likewise with JAX."""
    return ((obs - mean) / scale).clip(-CLIP, CLIP)
