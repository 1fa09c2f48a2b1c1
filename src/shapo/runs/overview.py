"""What runs there are: how far each has come, what it reached, and whether its files are still what was written.

A place is the folder of a run, or an archive of many.
"""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from shapo.runs import policies
from shapo.runs.absent import no_folder
from shapo.runs.archives import is_archive, read_archive
from shapo.runs.folder import Run
from shapo.runs.integrity import MANIFEST, SEALED, check, is_sealed
from shapo.words import BadInput


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
    return [line for root in roots for place in found(root) for line in _lines(place)]


def found(root: Path) -> Iterator[Path]:
    """Every place in or below `root`, readable or not."""
    if is_archive(root):
        yield root
    elif not root.is_dir():
        raise BadInput(no_folder(root))
    for place, below, files in os.walk(root):
        below.sort()
        if any(name in files for name in (*SEALED, MANIFEST)):  # its config may be what is lost
            below.clear()
            yield Path(place)
        else:
            paths = [Path(place) / name for name in sorted(files)]
            yield from (path for path in paths if is_archive(path) and not path.is_symlink())


def damage(roots: Sequence[Path]) -> dict[Path, list[str]]:
    """What is wrong with each place in or below these folders; nothing about those that are sound."""
    checked = {place: _problems(place) for root in roots for place in found(root)}
    return {place: problems for place, problems in checked.items() if problems}


def _problems(place: Path) -> list[str]:
    problems = check(place) if place.is_dir() else []
    try:
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
    several = len(limits) > 1
    numbers = [f"_{number}" for number in range(1, len(limits) + 1)] if several else [""]
    costs = tuple(history.last(f"cost/episode{number}") for number in numbers)
    reward = history.last("reward/episode")
    return Line(run.folder, _state(run, steps), steps, reward, costs, limits)


def _state(run: Run, steps: float) -> str:
    archived = run.moment is not None  # which only what is finished is
    if archived or is_sealed(run.folder) or steps >= run.experiment.steps:
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
