"""How a run goes on, in plain lines: for logs, for pipes, and for whoever reads them."""

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, TextIO

from shapo.experiment import Experiment

SECONDS_BETWEEN_LINES = 10.0


class Among(NamedTuple):
    """Which of several runs, one after the other, is seen."""

    number: int
    """From 1."""
    count: int
    name: str
    seconds_left: Callable[[Mapping[str, float]], float]
    """Until all are done, given this one's latest row."""


_BEFORE = ("iteration", "steps", "reward/episode")
_OF_A_COST = ("cost/episode", "cost/limit", "cost/rate", "policy/multiplier")
_AFTER = ("time/steps_per_second",)


class PlainLines:
    """One line of key=value pairs every few seconds, for logs and pipes."""

    def __init__(self, experiment: Experiment, out: TextIO, among: Among | None = None):
        self._iterations = experiment.iterations
        self._among = among
        self._out = out
        self._last = -SECONDS_BETWEEN_LINES
        self._compiled = False

    def __enter__(self) -> "PlainLines":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, row: Mapping[str, float]) -> None:
        """Print one iteration, unless the last line is too recent. The first compiles, so it foretells nothing."""
        now, foretells = time.monotonic(), self._compiled
        self._compiled = True
        if now - self._last < SECONDS_BETWEEN_LINES and row["iteration"] + 1 < self._iterations:
            return
        self._last = now
        names = [*_BEFORE, *(name + each for each in signals(row) for name in _OF_A_COST), *_AFTER]
        pairs = [f"{name}={row[name]:.8g}" for name in names if name in row]
        if among := self._among:
            pairs[:0] = [f"run={among.number}/{among.count}", f"name={among.name}"]
        if foretells:
            pairs.append(f"seconds_left={time_left(row, self._iterations):.0f}")
        if foretells and among:
            pairs.append(f"seconds_left_in_all={among.seconds_left(row):.0f}")
        print(*pairs, file=self._out, flush=True)


def signals(row: Mapping[str, float]) -> list[str]:
    """What stands behind a column's name for each cost signal: nothing, or of several their numbers."""
    marks = [name.removeprefix("cost/limit") for name in row if name.startswith("cost/limit")]
    return sorted(marks, key=lambda mark: (len(mark), mark))


def time_left(row: Mapping[str, float], iterations: int) -> float:
    """Seconds until the end at the pace of this iteration."""
    done = row["iteration"] + 1
    seconds_per_iteration = row["steps"] / done / row["time/steps_per_second"]
    return (iterations - done) * seconds_per_iteration
