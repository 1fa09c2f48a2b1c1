"""Training a run again from its record: do the same numbers come out?"""

import contextlib
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.runs.absent import is_archive
from shapo.runs.archives import in_short
from shapo.runs.folder import Run
from shapo.runs.history import History
from shapo.runs.resuming import depends_on_length
from shapo.training import Watch, train
from shapo.words import BadInput

TIMES = "time/"
"""What no two trainings have in common."""


class Difference(NamedTuple):
    """A number that came out differently; NaN if it is not there."""

    column: str
    then: float
    now: float


class Outcome(NamedTuple):
    """How far a run was trained again, and what was found."""

    rows: int
    """That were compared."""
    steps: int
    """That they stand for."""
    numbers: int
    """In each row."""
    differences: list[Difference]
    """In the last of the rows, after which nothing can be the same any more; none if all rows are."""


class _Enough(Exception):
    """There is nothing left to compare."""


class _Comparing:
    """Sets what is recorded anew beside a history, whose rows may stand for many iterations each."""

    def __init__(self, history: History, kept: Callable[[str, NDArray], float]) -> None:
        """`kept` is what a history keeps of a column's values over a stretch of iterations."""
        self._kept = kept
        self._known = {k: v for k, v in history.columns.items() if not k.startswith(TIMES)}
        self._ends = history.values("iteration")
        self._stretch: list[Mapping[str, float]] = []
        self._rows = 0
        self._differences: list[Difference] = []

    @property
    def outcome(self) -> Outcome:
        steps = int(self._known["steps"][self._rows - 1]) if self._rows else 0
        return Outcome(self._rows, steps, len(self._known), self._differences)

    def __call__(self, row: Mapping[str, float]) -> None:
        self._stretch.append(row)
        if row["iteration"] < self._ends[self._rows]:
            return
        self._differences = [
            Difference(column, then, now)
            for column in self._known
            if not np.array_equal(
                then := self._kept(column, self._known[column][self._rows : self._rows + 1]),
                now := self._kept(column, self._values(column)),
                equal_nan=True,
            )
        ]
        self._stretch = []
        self._rows += 1
        if self._differences or self._rows == len(self._ends):
            raise _Enough

    def _values(self, column: str) -> np.ndarray:
        return np.array([row.get(column, np.nan) for row in self._stretch], float)


def _exactly(column: str, values: NDArray) -> float:
    """To the last bit; an archive keeps seven digits."""
    return float(values[-1])


def repeat(run: Run, steps: int | None = None, watch: Watch | None = None) -> Outcome:
    """Train a run again, in a folder that is then removed, until the first row that is not what it has recorded.

    Args:
        run: Of a folder or an archive, finished or not.
        steps: How far, if not to its end; to the end of the row that completes them.
        watch: Called with each row of the new training.
    """
    why = depends_on_length(run.experiment) if run.extended else ""
    if why:
        raise BadInput(
            f"{run.folder} went on beyond its first end, and {why}: it cannot be repeated"
        )
    if not run.history.steps:
        raise BadInput(f"{run.folder} has recorded nothing yet that could be compared")
    kept = in_short if is_archive(run.folder.parent) else _exactly
    comparing = _Comparing(run.history.until(steps or run.experiment.steps), kept)

    def look(row: Mapping[str, float]) -> None:
        if watch:
            watch(row)
        comparing(row)

    with tempfile.TemporaryDirectory(prefix="shapo-repeat-") as place, contextlib.suppress(_Enough):
        experiment = run.experiment.replace(workers=0)  # as many as suit this machine
        train(
            experiment,
            Path(place) / run.folder.name,
            watch=look,
            quiet=True,
            recorders=lambda *_: [],
        )
    return comparing.outcome
