"""The comparison as it is printed: numbers as texts, and what their signs mean."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from shapo.experiments.comparison.layout import Grid, tables
from shapo.experiments.comparison.numbers import difference, pairs, quantities, title, values
from shapo.experiments.groups import Group
from shapo.experiments.statistics import Interval, bracketed, rounded, standard_error

MISSING = "–"


def printed(arms: Sequence[Group], width: int) -> list[Table]:
    """A line per arm, and below with its difference from another; where that is too wide, a line per number."""
    whats, compared = quantities(arms), pairs(arms)
    found = {what: [values(arm, what) for arm in arms] for what in whats}
    decimals = {what: _decimals(np.concatenate(columns)) for what, columns in found.items()}
    means = {what: [_mean(each, decimals[what]) for each in found[what]] for what in whats}
    differences = {
        what: [_interval(difference(*pair, what), decimals[what]) for pair in compared]
        for what in whats
    }
    names = [arm.label for arm in arms]
    minus = [f"{arm.label} − {base.label}" for arm, base in compared]
    wide = Grid(
        ["", *(what.name for what in whats)],
        [_by_name(names, means.values()), _by_name(minus, differences.values())],
    )
    on_its_side = Grid(
        ["", *names, *minus],
        [[[what.name, *means[what], *differences[what]] for what in whats]],
    )
    return tables(title(arms), wide, on_its_side, width)


def _by_name(names: Sequence[str], columns: Iterable[Sequence[str]]) -> list[list[str]]:
    return [list(row) for row in zip(names, *columns, strict=True)]


def explanation(arms: Sequence[Group]) -> str:
    """What the numbers are of, and what stands behind ± and between brackets, if they are there at all; a line each."""
    several = max(len(arm.runs) for arm in arms) > 1
    said = [
        "return, cost and cost p95: per episode, mean over the last tenth of the steps (p95: what 95 % of the last 50 "
        "episodes do not exceed); cost rate (per step) and total cost: of the whole training, where exploring costs."
    ]
    if several:
        said.append("±: standard error of the mean over seeds.")
    if len(arms) > 1:
        said.append("−: mean of the differences between runs of the same seed")
        said[-1] += (
            ", [in brackets] its 95 % confidence interval (Student's t); one that holds 0 does not show that "
            "there is a difference."
            if several
            else "; of one seed, so nothing says whether it is more than chance."
        )
    return "\n".join(said)


def _decimals(values: NDArray) -> int:
    """To how many decimals single runs are shown: so many that the smallest of the values has four digits."""
    known = np.abs(values[np.isfinite(values) & (values != 0)])
    return min(max(0, 3 - math.floor(math.log10(known.min()))), 8) if len(known) else 0


def _mean(values: NDArray, decimals: int) -> str:
    known = values[np.isfinite(values)]
    if not len(known):
        return MISSING
    of = f" ({len(known)} of {len(values)} seeds)" if len(known) < len(values) else ""
    if len(known) == 1:
        return f"{known[0]:,.{decimals}f}{of}"
    error = standard_error(known)
    return f"{rounded(known.mean(), error)} ± {rounded(error, error)}{of}"


def _interval(found: Interval | None, decimals: int) -> str:
    if found is None:
        return MISSING
    if not np.isfinite(found.low):
        return f"{found.estimate:+,.{decimals}f}"
    return bracketed(found)
