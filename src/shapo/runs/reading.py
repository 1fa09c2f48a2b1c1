"""Runs found in folders. What looks like a run and cannot be used is named with the reason.

A run may be half written, because it is being written right now: each is read once, and stays as it was then.
"""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from shapo.runs.absent import CONFIG, is_archive, no_folder
from shapo.runs.archives import read_archive
from shapo.runs.config import read_config
from shapo.runs.folder import Run
from shapo.runs.history import History, flaw, read_history
from shapo.runs.integrity import TABLES, altered, check_inside
from shapo.words import BadInput, counted, nearest

FILES = (CONFIG, *TABLES)


class Skipped(NamedTuple):
    """A folder that looks like a run but cannot be used."""

    folder: Path
    reason: str


class Runs(NamedTuple):
    """What was found under some folders."""

    runs: list[Run]
    """With at least one iteration each, as they were when they were read."""
    skipped: list[Skipped]


def read_runs(*folders: str | Path) -> Runs:
    """All runs in or anywhere below the given folders, archives included (or given), and what had to be left out."""
    runs, skipped = [], []
    for place in sorted(places(folders, FILES)):
        try:
            runs += [_read_run(place)] if place.is_dir() else read_archive(place)
        except (ValueError, OSError) as error:
            skipped.append(Skipped(place, " ".join(str(error).split())))
    return _of_one_version(Runs(runs, skipped))


def find_run(path: Path) -> Run:
    """One run: its folder, or an archive and, as if that were a folder, the run's name in it."""
    archive = path if is_archive(path) else path.parent
    if not is_archive(archive):
        return Run.open(path)
    by_name = {run.folder.name: run for run in read_archive(archive)}
    if path.name in by_name:
        return by_name[path.name]
    if path == archive:
        raise BadInput(
            f"{path} is an archive of {counted(len(by_name), 'run')}; name one of them: {path / min(by_name)}"
        )
    hint = nearest(path.name, by_name) or f"; `shapo runs {archive}` lists what it holds"
    raise BadInput(f"{archive} holds no {path.name}{hint}")


def read_episodes(run: Run) -> History:
    """The run's episodes, a value each; none if they were not recorded or cannot be read."""
    try:
        return read_history(run.folder / "episodes.csv")
    except ValueError:
        return History({})


def series(version: str) -> str:
    """The releases whose results may be put side by side: 0.2.0 and 0.2.7 may, 0.3.0 may not."""
    return ".".join(version.split(".")[:2])


def names(runs: Sequence[Run]) -> list[str]:
    """What to call each run: its folder, from the nearest folder that holds all of them."""
    folders = [run.folder.absolute() for run in runs]
    base = os.path.commonpath([folder.parent for folder in folders]) if folders else ""
    return [folder.relative_to(base).as_posix() for folder in folders]


def places(roots: Iterable[str | Path], marks: Collection[str]) -> list[Path]:
    """Each folder with one of the files that mark a run, and each archive: in or below these, which may be archives."""
    found: dict[Path, Path] = {}
    for root in map(Path, roots):
        for place in _in_or_below(root, marks):
            found.setdefault(place.resolve(), place)
    return list(found.values())


def _in_or_below(root: Path, marks: Collection[str]) -> Iterator[Path]:
    if is_archive(root):
        yield root
    elif not root.is_dir():
        raise BadInput(no_folder(root))
    for folder, below, files in os.walk(root):
        below.sort()
        if any(name in files for name in marks):
            below.clear()
            yield Path(folder)
        paths = (Path(folder) / name for name in sorted(files))
        yield from (path for path in paths if is_archive(path) and not path.is_symlink())


def _read_run(folder: Path) -> Run:
    check_inside(folder)
    run = Run(folder, *read_config(folder / CONFIG))
    try:
        run = run.now()
        if problem := flaw(run.history):
            raise BadInput(f"progress.csv {problem}")
    except ValueError as error:
        raise BadInput(f"failed: {run.failure}" if run.failure else error) from None
    if problems := altered(folder):
        raise BadInput("; ".join(problems))
    return run


def _of_one_version(found: Runs) -> Runs:
    """Runs of one release series only: scores of different releases must not be averaged."""
    counts = Counter(series(run.version) for run in found.runs)
    if len(counts) <= 1:
        return found
    kept = max(counts, key=lambda name: (counts[name], name))
    others = [
        Skipped(run.folder, f"written by shapo {run.version}, most others by {kept}; read it apart")
        for run in found.runs
        if series(run.version) != kept
    ]
    runs = [run for run in found.runs if series(run.version) == kept]
    return Runs(runs, found.skipped + others)
