"""Where a run goes on: after its newest checkpoint that can be believed, or nowhere if that would destroy something."""

import contextlib
import shlex
from pathlib import Path
from typing import NamedTuple

from shapo.experiment import Experiment
from shapo.experiment.algos import EPOCHS
from shapo.experiment.extensions import CUSTOM, IN_ALGO, as_options
from shapo.runs.absent import CONFIG
from shapo.runs.checkpoints import Checkpoint, damaged, iterations, newest_first
from shapo.runs.files import Damaged, read_json, write_json
from shapo.runs.folder import Run
from shapo.runs.integrity import MANIFEST, altered, altered_rows, is_sealed
from shapo.runs.origin import FREE, differences
from shapo.runs.provenance import here, unlike
from shapo.runs.writing import RunWriter
from shapo.words import BadInput


class Start(NamedTuple):
    """What there is to go on from."""

    checkpoint: Checkpoint | None
    """None: the beginning."""
    finished: bool
    """Nothing is left to do."""
    notes: list[str]
    """What whoever resumes should know, a line each."""


class CannotResume(BadInput):
    """Going on would overwrite or falsify what is there."""


def where_to_go_on(run: Run) -> Start:
    """Look at what is there; nothing is changed, but a run that a crash kept from its seal gets it."""
    if is_sealed(run.folder):
        return _finished(run)
    checkpoint, notes = newest_usable(run)
    if checkpoint is None:
        return _without_checkpoint(run, notes)
    config = read_json(run.folder / CONFIG)
    changed = differences(config, checkpoint.facts.get("experiment", ""))
    if changed:
        said = f"{CONFIG} was changed since the last checkpoint ({'; '.join(changed.values())})"
        if not set(changed) <= set(FREE):
            raise CannotResume(f"cannot resume {run.folder}: {said}")
        why = depends_on_length(run.experiment) if "steps" in changed else ""
        so = f"; {why}, so this is not the same as one run of this length" if why else ""
        asked_for = "extended_from" in config and set(changed) == {"steps"}
        if so or not asked_for:
            notes.append(f"{run.folder}: {said}{so}")
    if checkpoint.iteration + 1 < run.experiment.iterations:
        return Start(checkpoint, False, [*notes, *_begun_elsewhere(run)])
    with contextlib.closing(RunWriter(run, checkpoint)) as writer:
        writer.finish()
    return Start(checkpoint, True, notes)


def extend(run: Run, steps: int) -> None:
    """Ask a run for more steps than it was begun for. Raises, and changes nothing, where it cannot go on.

    Its seal goes before its config changes: a crash in between leaves a run that is as good as finished.
    """
    finished = where_to_go_on(run).finished
    if finished and newest_usable(run)[0] is None:
        raise CannotResume(
            f"{run.folder} cannot be extended: its checkpoints are gone; restore them, or train another run of "
            f"{steps:,} steps"
        )
    (run.folder / MANIFEST).unlink(missing_ok=True)
    config = read_json(run.folder / CONFIG)
    config["experiment"]["steps"] = steps
    config["extended_from"] = [*config.get("extended_from", []), run.experiment.steps]
    write_json(run.folder / CONFIG, config)


def depends_on_length(experiment: Experiment) -> str:
    """Why an iteration comes out differently in a longer training; empty if it does not."""
    if experiment.algo in EPOCHS:
        return "ppo_rate falls linearly to 0 over all steps"
    names = experiment.names()
    rules = [names.get(each, "") for each in ("algo", "gradient", "critic_gradient", "schedule")]
    own = [name.removeprefix(CUSTOM) for name in rules if ":" in name and name != IN_ALGO]
    return f"{' or '.join(own)} may look at progress.remaining" if own else ""


def how_to_continue(folder: Path, experiment: Experiment) -> str:
    """The command for a run, with the names of code that no folder has imported by itself."""
    return _command("--resume", folder, experiment)


def _command(option: str, folder: Path, experiment: Experiment) -> str:
    own = as_options(experiment.names())
    return " ".join(["shapo train", option, shlex.quote(str(folder)), *own])


def newest_usable(run: Run) -> tuple[Checkpoint | None, list[str]]:
    """The last checkpoint that is whole and whose rows are there, and a line about each that is later."""
    notes = []
    for found in newest_first(run.folder / "checkpoints"):
        problems = [str(found)] if isinstance(found, Damaged) else altered_rows(run.folder, found)
        if not problems and not isinstance(found, Damaged):
            return found, [f"{note}; continuing from the one before" for note in notes]
        notes += problems
    return None, list(dict.fromkeys(notes))


def _begun_elsewhere(run: Run) -> list[str]:
    changed = unlike(run.made.decisive, here().known)
    return [f"{run.folder} was begun with {changed}: numbers may differ"] if changed else []


def _finished(run: Run) -> Start:
    if problems := altered(run.folder):
        raise CannotResume(f"{run.folder} is damaged: {'; '.join(problems)}; {_way_out(run)}")
    lines = damaged(run.folder / "checkpoints")
    return Start(
        None, True, [f"{each}; the run is finished and needs it no more" for each in lines]
    )


def _without_checkpoint(run: Run, notes: list[str]) -> Start:
    """The first iteration may be repeated: a crash between its rows and its checkpoint leaves them alone."""
    rows = len(next(iter(run.history.columns.values()), []))
    if run.finished:
        return Start(None, True, notes)
    if rows <= 1 and max(iterations(run.folder / "checkpoints"), default=0) == 0:
        return Start(None, False, [f"{note}; beginning again" for note in notes])
    why = f" ({'; '.join(notes)})" if notes else ""
    raise CannotResume(
        f"{run.folder} has rows of {rows} iterations and no checkpoint to go on from{why}; {_way_out(run)}"
    )


def _way_out(run: Run) -> str:
    again = _command("--restart", run.folder, run.experiment)
    return f"restore it, or begin anew with: {again} (what is there is kept in {run.folder}/aside)"
