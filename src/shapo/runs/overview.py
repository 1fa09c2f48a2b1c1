"""What runs there are: how far each has come, what it reached, and whether its files are still what was written."""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from shapo.runs import policies
from shapo.runs.folder import Run
from shapo.runs.integrity import CONFIG, check, is_sealed
from shapo.words import BadInput


class Line(NamedTuple):
    """A run at a glance."""

    folder: Path
    state: str
    steps: int
    reward: float
    """Return per episode in the last iteration."""
    cost: float
    """Cost per episode in the last iteration; the first, where there are several."""


def overview(folders: Sequence[Path]) -> list[Line]:
    """A line for each run in or below these folders, in the order of their names."""
    return [_line(folder) for root in folders for folder in found(root)]


def found(root: Path) -> Iterator[Path]:
    """Every folder in or below `root` that holds a run, readable or not."""
    if not root.is_dir():
        raise BadInput(f"{root}: no such folder")
    for place, below, files in os.walk(root):
        below.sort()
        if CONFIG in files:
            below.clear()
            yield Path(place)


def damage(folders: Sequence[Path]) -> dict[Path, list[str]]:
    """What is wrong with each run in or below these folders; nothing about those that are sound."""
    checked = {folder: _problems(folder) for root in folders for folder in found(root)}
    return {folder: problems for folder, problems in checked.items() if problems}


def _problems(folder: Path) -> list[str]:
    problems = check(folder)
    try:
        run = Run.open(folder)
        _ = run.history
        if (folder / policies.FILE).exists():
            _ = run.policy
    except (BadInput, OSError) as error:
        problems.append(str(error))
    return list(dict.fromkeys(problems))


def _line(folder: Path) -> Line:
    nothing = float("nan")
    try:
        run = Run.open(folder)
        history = run.history
    except (BadInput, OSError) as error:
        return Line(folder, f"unreadable: {error}", 0, nothing, nothing)
    steps, reached = history.steps, map(history.last, ("reward/episode", "cost/episode"))
    return Line(folder, _state(run, steps), steps, *reached)


def _state(run: Run, steps: float) -> str:
    if is_sealed(run.folder) or steps >= run.experiment.steps:
        return "finished"
    if run.failure:
        return f"failed: {run.failure}"
    if not steps:
        return "not begun"
    return f"{steps / run.experiment.steps:.0%}, {_age((run.folder / 'progress.csv').stat().st_mtime)} ago"


def _age(moment: float) -> str:
    seconds = max(0.0, time.time() - moment)
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"
