"""What runs there are: how far each has come, what it reached, and whether its files are still what was written.

A place is the folder of a run, or an archive of many.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from shapo.runs import policies
from shapo.runs.archives import read_archive
from shapo.runs.folder import Run
from shapo.runs.integrity import MANIFEST, SEALED, check, is_sealed
from shapo.runs.ledger import suffixes
from shapo.runs.reading import places
from shapo.words import duration_text

MARKS = (*SEALED, MANIFEST)
"""What is taken for a run: even its config may be what is lost."""


class Line(NamedTuple):
    """A run at a glance."""

    folder: Path
    state: str
    steps: int
    reward: float
    """Return per episode in the last iteration; from an archive, in its last row."""
    costs: tuple[float, ...]
    """Cost per episode likewise, of each signal; none where nothing can be read."""
    limits: tuple[float, ...]
    """What bounds each of them."""


def overview(roots: Sequence[Path]) -> list[Line]:
    """A line for each run in or below these folders, in the order of their names, archives included (or given)."""
    return [line for place in places(roots, MARKS) for line in _lines(place)]


def damage(roots: Sequence[Path]) -> dict[Path, list[str]]:
    """What is wrong with each place in or below these folders; nothing about those that are sound."""
    checked = {place: _problems(place) for place in places(roots, MARKS)}
    return {place: problems for place, problems in checked.items() if problems}


def _problems(place: Path) -> list[str]:
    problems = []
    try:
        problems += check(place) if place.is_dir() else []
        for run in _runs(place):
            _ = run.history.steps
            if (run.folder / policies.FILE).exists():
                _ = run.policy
    except (ValueError, OSError) as error:
        problems.append(str(error))
    return list(dict.fromkeys(problems))


def _lines(place: Path) -> list[Line]:
    try:
        return [_line(run) for run in _runs(place)]
    except (ValueError, OSError) as error:
        return [Line(place, f"unreadable: {error}", 0, float("nan"), (), ())]


def _runs(place: Path) -> list[Run]:
    return [Run.open(place)] if place.is_dir() else read_archive(place)


def _line(run: Run) -> Line:
    history = run.history
    steps, limits = history.steps, run.experiment.cost_limit
    costs = tuple(history.last(f"cost/episode{each}") for each in suffixes(len(limits)))
    reward = history.last("reward/episode")
    return Line(run.folder, _state(run, steps), steps, reward, costs, limits)


def _state(run: Run, steps: int) -> str:
    if is_sealed(run.folder) or steps >= run.experiment.steps:
        return "finished"
    if run.failure:
        return f"failed: {run.failure}"
    if not steps:
        return "not begun"
    age = max(0.0, time.time() - (run.folder / "progress.csv").stat().st_mtime)
    return f"{steps / run.experiment.steps:.0%}, {duration_text(age)} ago"
