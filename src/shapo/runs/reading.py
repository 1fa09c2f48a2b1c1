"""Run folders, read into tables. Folders that cannot be used are named with the reason.

A run folder holds `config.json` (what was asked), `progress.csv` (a row per iteration) and
`episodes.csv` (a row per episode). It may be half written, because it is being written right now.
"""

import dataclasses
import difflib
import io
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from shapo.experiment import Experiment
from shapo.runs.files import read_json
from shapo.runs.integrity import LeadsElsewhere, altered, check_inside
from shapo.runs.origin import choices
from shapo.words import BadInput

FILES = ("config.json", "progress.csv", "episodes.csv")
EPISODE_COLUMNS = ("steps", "return", "cost")
FINAL_SHARE = 0.1
"""A run's final return and cost are means over this last share of its steps."""


class Run(NamedTuple):
    """One readable run folder with at least one iteration in it."""

    name: str
    folder: Path
    version: str
    experiment: Experiment
    progress: pd.DataFrame
    """A row per iteration; column names as in `progress.csv`."""
    custom: dict[str, str]
    """What was passed as Python objects rather than by name, described."""
    failure: str
    """Why it stopped, as its sweep recorded it in `failure.txt`; empty if it did not fail."""

    @property
    def steps(self) -> int:
        """Environment steps taken so far."""
        return int(self.values("steps")[-1])

    @property
    def finished(self) -> bool:
        """Whether all the steps asked for were taken."""
        return self.steps >= self.experiment.steps

    def values(self, column: str) -> NDArray[np.float64]:
        """The column, a value per iteration; NaN where this run does not record it."""
        if column not in self.progress:
            return np.full(len(self.progress), np.nan)
        return self.progress[column].to_numpy(float)

    def last(self, column: str) -> float:
        """The column's latest value."""
        return float(self.values(column)[-1])

    def final(self, column: str) -> float:
        """The column's mean over the last tenth of the steps."""
        late = self.values(column)[self.values("steps") > (1 - FINAL_SHARE) * self.steps]
        known = late[~np.isnan(late)]
        return float(known.mean()) if known.size else float("nan")

    def until(self, steps: int) -> "Run":
        """The same run as it stood after so many steps (its first iteration at least)."""
        kept = max(1, int(np.sum(self.values("steps") <= steps)))
        return self._replace(progress=self.progress.iloc[:kept])


class Skipped(NamedTuple):
    """A folder that looks like a run but cannot be used."""

    folder: Path
    reason: str


class Runs(NamedTuple):
    """What was found under some folders."""

    runs: list[Run]
    skipped: list[Skipped]


class Curve(NamedTuple):
    """A quantity over training, averaged over runs."""

    steps: NDArray[np.float64]
    mean: NDArray[np.float64]
    error: NDArray[np.float64]
    """Standard error; 0 where there is a single run."""


class UnreadableRun(ValueError):
    """A run folder that cannot be used; the message says which file and why."""


def read_runs(*folders: str | Path) -> Runs:
    """All runs in or anywhere below the given folders, by name, and what had to be left out."""
    runs, skipped = [], []
    for name, folder in _candidates(folders):
        try:
            runs.append(_read_run(name, folder))
        except UnreadableRun as error:
            skipped.append(Skipped(folder, str(error)))
    return _of_one_version(Runs(runs, skipped))


def read_episodes(run: Run) -> pd.DataFrame:
    """The run's episodes, a row each; empty if it recorded none."""
    try:
        return _read_csv(run.folder / "episodes.csv", needed=EPISODE_COLUMNS)
    except UnreadableRun:
        return pd.DataFrame(dict.fromkeys(EPISODE_COLUMNS, np.empty(0)))


def mean_curve(runs: Sequence[Run], column: str) -> Curve:
    """The column's mean and standard error over the runs, as far as all of them have come."""
    recorded = []
    for run in runs:
        steps, values = run.values("steps"), run.values(column)
        if (known := ~np.isnan(values)).any():
            recorded.append((steps[known], values[known]))
    if not recorded:
        return Curve(np.empty(0), np.empty(0), np.empty(0))
    finest = max((steps for steps, _ in recorded), key=len)
    common = finest[finest <= min(steps[-1] for steps, _ in recorded)]
    values = np.stack([np.interp(common, steps, values) for steps, values in recorded])
    several = len(values) > 1
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if several else np.zeros(len(common))
    return Curve(common, values.mean(axis=0), error)


def _candidates(folders: Iterable[str | Path]) -> list[tuple[str, Path]]:
    found: dict[Path, str] = {}
    for root in map(Path, folders):
        if not root.is_dir():
            raise ValueError(f"{root}: no such folder{_suggestion(root)}")
        for place, below, files in os.walk(root):
            if any(name in files for name in FILES):
                below.clear()
                folder = Path(place)
                name = folder.relative_to(root).as_posix() if folder != root else folder.name
                found.setdefault(folder, name)
    return sorted((name, folder) for folder, name in found.items())


def _suggestion(missing: Path) -> str:
    siblings = [path.name for path in missing.parent.glob("*")] if missing.parent.is_dir() else []
    near = difflib.get_close_matches(missing.name, siblings, n=1)
    return f"; did you mean {missing.parent / near[0]}?" if near else ""


def _read_run(name: str, folder: Path) -> Run:
    try:
        check_inside(folder)
    except LeadsElsewhere as error:
        raise UnreadableRun(str(error)) from None
    failure_file = folder / "failure.txt"
    failure = failure_file.read_text("utf-8", "replace").strip() if failure_file.exists() else ""
    try:
        version, experiment, custom = _read_config(folder / "config.json")
        progress = _read_csv(folder / "progress.csv", needed=("iteration", "steps"))
    except UnreadableRun as error:
        raise UnreadableRun(f"failed: {failure}" if failure else str(error)) from None
    if problems := altered(folder):
        raise UnreadableRun("; ".join(problems))
    return Run(name, folder, version, experiment, progress, custom, failure)


def _read_config(path: Path) -> tuple[str, Experiment, dict[str, str]]:
    if not path.exists():
        raise UnreadableRun("config.json is missing")
    try:
        config = read_json(path)
        version, custom = str(config["version"]), dict(config.get("custom", {}))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise UnreadableRun("config.json is not a run's configuration") from None
    try:
        asked = choices(config)
    except (KeyError, AttributeError, BadInput) as error:
        raise UnreadableRun(f"config.json: {error}") from None
    defaults = {field.name: field.default for field in dataclasses.fields(Experiment)}
    for key, value in asked.items():
        if key not in defaults:
            raise UnreadableRun(
                f"config.json: {key!r} is unknown here (written by shapo {version})"
            )
        if not isinstance(
            value, (int, float) if isinstance(defaults[key], float) else type(defaults[key])
        ):
            raise UnreadableRun(f"config.json: {key} cannot be {value!r}")
    return version, Experiment(**asked), custom


def _read_csv(path: Path, needed: tuple[str, ...]) -> pd.DataFrame:
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise UnreadableRun(f"{path.name} is missing") from None
    except (OSError, UnicodeDecodeError):
        raise UnreadableRun(f"{path.name} is not readable text") from None
    # A line without its end is still being written: its last number may lack digits.
    complete = text[: text.rfind("\n") + 1]
    try:
        rows = pd.read_csv(io.StringIO(complete), dtype="float64")
    except (ValueError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        reason = str(error).splitlines()[0] if complete else "it is empty"
        raise UnreadableRun(f"{path.name} cannot be read: {reason}") from None
    names = complete.partition("\n")[0].split(",")
    # Of several costs, numbered from 1, the first is the one that tables and figures show.
    rows = rows.rename(columns={name: name.removesuffix("_1") for name in rows})
    if len(set(names)) < len(names) or not rows.columns.is_unique:
        raise UnreadableRun(f"{path.name}: a column is there twice")
    for column in needed:
        if column not in rows or np.isnan(rows[column].to_numpy(float)).any():
            raise UnreadableRun(f"{path.name}: column {column!r} is missing or has gaps")
    if rows.empty:
        raise UnreadableRun(f"{path.name} has no finished iteration yet")
    return rows


def _of_one_version(found: Runs) -> Runs:
    """Runs of one release series only: scores of different releases must not be averaged."""
    series = Counter(_series(run.version) for run in found.runs)
    if len(series) <= 1:
        return found
    kept = max(series, key=lambda name: (series[name], name))
    others = [
        Skipped(run.folder, f"written by shapo {run.version}, most others by {kept}; read it apart")
        for run in found.runs
        if _series(run.version) != kept
    ]
    runs = [run for run in found.runs if _series(run.version) == kept]
    return Runs(runs, found.skipped + others)


def _series(version: str) -> str:
    return ".".join(version.split(".")[:2])
