"""Statistics of a handful of runs: how sure are we, who is better, and what is beaten in both return and cost."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from shapo.words import BadInput


class Interval(NamedTuple):
    """An estimate and the interval that holds it with the confidence asked for."""

    estimate: float
    low: float
    high: float


def standard_error(values: ArrayLike) -> float:
    """Standard error of the mean; NaN for a single value, from which nothing can be said."""
    values = _scores("values", values)
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")


def probability_of_improvement(treated: ArrayLike, baseline: ArrayLike) -> float:
    """Chance that a run of `treated` beats one of `baseline`; ties count half."""
    lead = np.subtract.outer(_scores("treated", treated), _scores("baseline", baseline))
    return float(np.mean((lead > 0) + 0.5 * (lead == 0)))


Samples = Sequence[tuple[float, ArrayLike]]
"""Weights, and the numbers whose mean each of them is for."""


def apart(treated: ArrayLike, baseline: ArrayLike) -> Samples:
    """For `weighted_means`: what treatment does to a mean, between runs that have nothing in common (Welch's test)."""
    return [(1.0, treated), (-1.0, baseline)]


def in_pairs(treated: ArrayLike, baseline: ArrayLike) -> Samples:
    """The same between runs of the same task and seed, pair by pair (Student's test)."""
    return [(1.0, _scores("treated", treated) - _scores("baseline", baseline))]


def weighted_means(samples: Samples, confidence: float = 0.95) -> tuple[Interval, float]:
    """Σ weight · mean with Student's interval, and the p value that it is not 0.

    Each sample has a spread of its own; the degrees of freedom are Welch's and Satterthwaite's. Student's rather than
    the bootstrap's interval, which is far too narrow for five runs. A sample of one says nothing: (-inf, inf).
    """
    weights = np.array([weight for weight, _ in samples])
    numbers = [_scores("samples", values) for _, values in samples]
    middle = float(sum(weights * [values.mean() for values in numbers]))
    if any(values.size == 1 for values in numbers):
        return Interval(middle, -math.inf, math.inf), 1.0
    variances = np.square(weights * [standard_error(values) for values in numbers])
    variance, degrees = variances.sum(), np.array([values.size - 1 for values in numbers])
    if variance == 0:
        return Interval(middle, middle, middle), float(middle == 0)
    freedom = variance**2 / (variances**2 / degrees).sum()
    # What scipy.stats.t computes; to import that takes five times as long.
    reach = float(stdtrit(freedom, (1 + confidence) / 2)) * math.sqrt(variance)
    p = 2 * float(stdtr(freedom, -abs(middle) / math.sqrt(variance)))
    return Interval(middle, middle - reach, middle + reach), p


def foreseen_reach(
    spread: float, seeds: int, differences: int = 1, confidence: float = 0.95
) -> float:
    """How far the interval will reach to either side of a mean of differences, of `seeds` runs on each side of each.

    For planning: `spread` is the standard deviation between seeds, the same for all.
    """
    freedom = 2 * (seeds - 1) * differences
    error = spread * math.sqrt(2 / (seeds * differences))
    return float(stdtrit(freedom, (1 + confidence) / 2)) * error


def paired_difference(
    treated: ArrayLike, baseline: ArrayLike, confidence: float = 0.95
) -> Interval:
    """Mean of `treated - baseline`, pair by pair (same task, same seed), with Student's interval."""
    return weighted_means(in_pairs(treated, baseline), confidence)[0]


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


def rounded(value: float, spread: float, sign: str = "") -> str:
    """A number to the decimals at which its spread has two digits; more would say nothing."""
    rounding_error = 1e-9 * abs(value)
    if not np.isfinite(value) or not rounding_error < spread < math.inf:
        return f"{value:{sign}.4g}"
    decimals = max(0, 1 - math.floor(math.log10(spread)))
    return f"{value:{sign},.{decimals}f}"


def bracketed(interval: Interval) -> str:
    """+2.0 [-1.4, +5.4]: an estimate and its interval, all to the decimals that the interval's width allows."""
    reach = (interval.high - interval.low) / 2
    estimate, low, high = (rounded(each, reach, "+") for each in interval)
    return f"{estimate} [{low}, {high}]"


def _scores(name: str, values: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(values, float)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise BadInput(f"{name}: need finite numbers, one per run; got {values!r}")
    return values
