"""Statistics of a handful of runs: how sure are we, who is better, and what is beaten in both return and cost."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

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
    # What scipy.stats.t.ppf computes; to import that takes five times as long.
    quantile = float(stdtrit(difference.size - 1, (1 + confidence) / 2))
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


def rounded(value: float, spread: float, sign: str = "") -> str:
    """A number to the decimals at which its spread has two digits; more would say nothing."""
    rounding_error = 1e-9 * abs(value)
    if not np.isfinite(value) or not rounding_error < spread < math.inf:
        return f"{value:{sign}.4g}"
    decimals = max(0, 1 - math.floor(math.log10(spread)))
    return f"{value:{sign},.{decimals}f}"


def _scores(name: str, values: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(values, float)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise BadInput(f"{name}: need finite numbers, one per run; got {values!r}")
    return values
