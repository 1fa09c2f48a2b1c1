"""Which run goes where, and how far it has come: a sweep repeated does only what is left to do."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from shapo import envs
from shapo.experiment import Experiment
from shapo.experiment.extensions import load, parse
from shapo.experiments.sweep.naming import run_names
from shapo.runs.checkpoints import iterations
from shapo.runs.folder import Run, is_free
from shapo.runs.integrity import altered
from shapo.runs.provenance import release
from shapo.runs.reading import series
from shapo.words import printable


class Job(NamedTuple):
    """One run of a sweep."""

    experiment: Experiment
    folder: Path
    done: int
    """Iterations on disk."""

    @property
    def name(self) -> str:
        """Its folder's, which no other run of the sweep has."""
        return self.folder.name

    @property
    def lacking(self) -> int:
        """Iterations that are left to do."""
        return max(self.experiment.iterations - self.done, 0)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return not self.lacking


class Plan(NamedTuple):
    """A sweep before it starts."""

    jobs: list[Job]
    notes: list[str]
    """A line about each folder that could have been one of these runs, and why it is left alone."""


def plan(experiments: Sequence[Experiment], out: Path) -> Plan:
    """A folder in `out` for each experiment: that of the run which is there already, or a new one.

    A run is the same as another if all choices that do anything are, whatever its folder is called.
    """
    require_known(experiments)
    there, notes = _runs_in(out)
    wanted = {each.essence(): each for each in experiments}
    # A sweep wants throughput, and one run per core has the most of it.
    new = {
        essence: each.replace(workers=each.workers or 1)
        for essence, each in wanted.items()
        if essence not in there
    }
    taken = [path.name for path in out.iterdir() if not is_free(path)] if out.is_dir() else []
    names = dict(zip(new, run_names(list(new.values()), there, taken), strict=True))
    jobs = [
        Job(new[essence], out / names[essence], 0)
        if essence in new
        else _going_on(there[essence], each)
        for essence, each in wanted.items()
    ]
    return Plan(jobs, [printable(note) for note in notes])


def require_known(experiments: Sequence[Experiment]) -> None:
    """Raise BadInput, before anything is started, if a name leads nowhere."""
    for env in {each.env for each in experiments}:
        envs.canonical(env)
    for name in {name for each in experiments for name in each.names().values() if parse(name)}:
        load(name)


def _going_on(run: Run, wanted: Experiment) -> Job:
    """A run goes on as it was begun, under the names that the user has given: those in a folder are not believed."""
    return Job(dataclasses.replace(run.experiment, **wanted.names()), run.folder, _iterations(run))


def _runs_in(out: Path) -> tuple[dict[Experiment, Run], list[str]]:
    runs: dict[Experiment, Run] = {}
    notes, ours = [], release()
    for config in sorted(out.glob("*/config.json")):
        try:
            run = Run.open(config.parent)
        except (ValueError, OSError) as error:
            notes.append(f"{config.parent} is left alone: {error}")
            continue
        if series(run.version) != series(ours):
            notes.append(
                f"{run.folder} is left alone: written by shapo {run.version}, this is {ours}"
            )
        else:
            rival = runs.setdefault(run.experiment.essence(), run)
            if _iterations(run) > _iterations(rival):
                runs[run.experiment.essence()] = run
    return runs, notes


def _iterations(run: Run) -> int:
    """Iterations that need not be repeated; none of a damaged run, which will say so when it is to go on."""
    if altered(run.folder):
        return 0
    table = run.folder / "progress.csv"
    rows = max(table.read_bytes().count(b"\n") - 1, 0) if table.exists() else 0
    checkpoints = iterations(run.folder / "checkpoints")
    # Somebody short of disk may have thrown the checkpoints of a finished run away.
    return min(rows, max(checkpoints) + 1) if checkpoints else rows
