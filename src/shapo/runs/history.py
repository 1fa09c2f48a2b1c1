"""What a run has recorded, a value per iteration, and the few numbers that tables and pictures make of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.runs.files import Damaged
from shapo.runs.tables import read_columns

FINAL_SHARE = 0.1
"""What a run reached in the end is a mean over this last share of its steps."""


class History(NamedTuple):
    """The columns of `progress.csv`, as they were at one moment."""

    columns: Mapping[str, NDArray[np.float64]]

    @property
    def steps(self) -> int:
        """Environment steps taken so far."""
        taken = self.columns.get("steps", np.empty(0))
        return int(taken[-1]) if len(taken) else 0

    @property
    def late(self) -> NDArray[np.bool_]:
        """Which iterations belong to the last tenth of the steps."""
        return self.values("steps") > (1 - FINAL_SHARE) * self.steps

    def values(self, column: str) -> NDArray[np.float64]:
        """A value per iteration; NaN where this run does not record it.

        Of several costs, numbered from 1, a name without a number means the first.
        """
        found = self.columns.get(column, self.columns.get(f"{column}_1"))
        return found if found is not None else np.full(len(self.columns.get("steps", ())), np.nan)

    def last(self, column: str) -> float:
        """The latest value; NaN before the first iteration."""
        values = self.values(column)
        return float(values[-1]) if len(values) else float("nan")

    def final(self, column: str) -> float:
        """The mean over the last tenth of the steps; NaN if nothing is known there, because no episode has ended."""
        return known_mean(self.values(column)[self.late])

    def overall(self, column: str) -> float:
        """The mean over all iterations of which it is known; NaN if that is none.

        A row of an archive stands for several iterations, and rows do not all stand for equally many.
        """
        values = self.values(column)
        iterations = np.diff(self.values("iteration"), prepend=-1)
        known = ~np.isnan(values)
        return (
            float(np.average(values[known], weights=iterations[known]))
            if known.any()
            else float("nan")
        )

    def until(self, steps: int) -> "History":
        """What it had recorded after so many steps: up to the iteration that completes them.

        A training of that length would have recorded the same, unless a rate of it falls over all its steps.
        """
        kept = int(np.searchsorted(self.values("steps"), steps)) + 1
        return History({name: values[:kept] for name, values in self.columns.items()})


NEEDED = ("iteration", "steps")


def flaw(history: History) -> str:
    """What is wrong with a history of which nothing can be made, said of its table; empty if nothing is."""
    if not history.columns:
        return "is missing or empty"
    for column in NEEDED:
        if column not in history.columns or not np.isfinite(history.columns[column]).all():
            return f"lacks numbers in column {column!r}"
    if {values.shape for values in history.columns.values()} != {
        history.columns["steps"].shape[:1]
    }:
        return "has columns of unequal length"
    return "" if history.steps else "has no finished iteration yet"


def known_mean(values: NDArray[np.float64]) -> float:
    """The mean of those that are numbers; NaN if none is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


def read_history(path: Path) -> History:
    """The history in a `progress.csv`; empty if there is none yet, raises `Damaged`."""
    if not path.exists():
        return History({})
    try:
        columns = read_columns(path)
    except ValueError as error:
        reason = str(error).splitlines()[0]
        raise Damaged(f"{path} cannot be read: {reason}") from None
    return History({name: np.array(values, float) for name, values in columns.items()})
