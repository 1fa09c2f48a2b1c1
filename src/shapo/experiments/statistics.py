"""Statistics of a handful of runs: what is the score, how sure are we, who is better.

Scores come as *strata*: one array of runs per task. Resampling stays within a task, so that a lucky
task can never stand in for an unlucky one. Every random number comes from the `rng` given.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student_t

Array = NDArray[np.float64]
Strata = Sequence[ArrayLike]


class Interval(NamedTuple):
    """An estimate and the interval that holds it with the confidence asked for."""

    estimate: float
    low: float
    high: float


def standard_error(values: ArrayLike) -> float:
    """Standard error of the mean; NaN for a single value, from which nothing can be said."""
    values = _scores("values", values)
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")


def mean(strata: Strata) -> Array:
    """Mean over tasks of the mean over runs (last axis)."""
    return np.mean([np.asarray(task, float).mean(axis=-1) for task in strata], axis=0)


def interquartile_mean(strata: Strata) -> Array:
    """Mean of the middle half of all runs of all tasks (last axis)."""
    scores = np.sort(np.concatenate([np.asarray(task, float) for task in strata], axis=-1), axis=-1)
    outside = scores.shape[-1] // 4
    return scores[..., outside : scores.shape[-1] - outside].mean(axis=-1)


def probability_of_improvement(treated: Strata, baseline: Strata) -> Array:
    """Chance that a run of `treated` beats one of `baseline` on a task, averaged over tasks.

    Ties count half.
    """
    chances = []
    for ours, theirs in zip(treated, baseline, strict=True):
        lead = np.asarray(ours, float)[..., :, None] - np.asarray(theirs, float)[..., None, :]
        chances.append(np.mean((lead > 0) + 0.5 * (lead == 0), axis=(-2, -1)))
    return np.mean(chances, axis=0)


def bootstrap(
    statistic: Callable[..., Array],
    *groups: Strata,
    rng: np.random.Generator,
    repetitions: int = 2000,
    confidence: float = 0.95,
) -> Interval:
    """`statistic(*groups)` with its stratified percentile bootstrap interval.

    `statistic` must work on the last axis and leave the others alone, as those of this module do.
    """
    groups_checked = [[_scores("scores", task) for task in strata] for strata in groups]
    resampled = [
        [task[rng.integers(task.size, size=(repetitions, task.size))] for task in strata]
        for strata in groups_checked
    ]
    tail = (1 - confidence) / 2
    low, high = np.quantile(statistic(*resampled), [tail, 1 - tail])
    return Interval(float(statistic(*groups_checked)), float(low), float(high))


def paired_difference(
    treated: ArrayLike, baseline: ArrayLike, confidence: float = 0.95
) -> Interval:
    """Mean of `treated - baseline`, pair by pair (same task, same seed), with Student's interval.

    Student's rather than the bootstrap's, which is far too narrow for five pairs. One pair says
    nothing: (-inf, inf).
    """
    difference = _scores("treated", treated) - _scores("baseline", baseline)
    if difference.size == 1:
        return Interval(float(difference[0]), float("-inf"), float("inf"))
    quantile = float(student_t.ppf((1 + confidence) / 2, difference.size - 1))
    reach = quantile * standard_error(difference)
    middle = float(difference.mean())
    return Interval(middle, middle - reach, middle + reach)


def pareto_front(returns: ArrayLike, costs: ArrayLike) -> NDArray[np.intp]:
    """Indices of the points that no other beats in return (more) and cost (less), by rising cost.

    Of equal points only the first counts.
    """
    returns, costs = _scores("returns", returns), _scores("costs", costs)
    front, best = [], -np.inf
    for i in np.lexsort((-returns, costs)):
        if returns[i] > best:
            front.append(i)
            best = returns[i]
    return np.array(front, dtype=np.intp)


def hypervolume(
    returns: ArrayLike, costs: ArrayLike, worst_return: float, worst_cost: float
) -> float:
    """Area of the (cost, return) plane that the points beat, out to the given worst corner."""
    returns, costs = _scores("returns", returns), _scores("costs", costs)
    front = pareto_front(returns, costs)
    edges = np.append(np.minimum(costs[front], worst_cost), worst_cost)
    return float(np.sum(np.diff(edges) * np.maximum(returns[front] - worst_return, 0)))


def _scores(name: str, values: ArrayLike) -> Array:
    values = np.asarray(values, float)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise ValueError(f"{name}: need finite numbers, one per run; got {values!r}")
    return values
