"""What a figure is: the runs it needs and how it is drawn from those there are."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Picture

from shapo.experiment import Experiment
from shapo.experiments.counting import LeftOut, counted
from shapo.experiments.style import Look
from shapo.runs.folder import Run
from shapo.runs.resuming import depends_on_length
from shapo.words import steps_text

SEEDS = 5
"""Of each configuration, in the paper."""
ASSUMED_SPEED = 10_000.0
"""Steps per second, until a run on the same task has been measured."""


@dataclass(frozen=True)
class Arm:
    """One configuration of a comparison, to be run over several seeds."""

    label: str
    experiment: Experiment
    look: Look
    panel: str = ""
    """Which part of the picture it belongs to, usually the task's short name."""
    tag: str = ""
    """Text beside its point, where many arms share a look."""

    def with_steps(self, steps: int) -> "Arm":
        """The same configuration, trained for longer or shorter."""
        return dataclasses.replace(self, experiment=self.experiment.replace(steps=steps))


def at_radius(arms: Sequence[Arm], radius: float) -> list[Arm]:
    """The same arms with another radius of SHAPO; a panel that compares radii is left as it is."""
    has_one = lambda arm: "pessimism" not in arm.experiment.idle()
    radii: dict[str, set[float]] = {}
    for arm in filter(has_one, arms):
        radii.setdefault(arm.panel, set()).add(arm.experiment.pessimism)
    return [
        dataclasses.replace(arm, experiment=arm.experiment.replace(pessimism=radius))
        if has_one(arm) and len(radii[arm.panel]) == 1
        else arm
        for arm in arms
    ]


class Result(NamedTuple):
    """The runs of an arm, one per seed, all of the arm's length.

    A longer run counts as it stood at that length, unless a training of that length would have come out differently.
    """

    arm: Arm
    runs: list[Run]
    left_out: list[LeftOut]


@dataclass(frozen=True)
class Figure:
    """A figure or table of the paper."""

    name: str
    title: str
    item: str
    """Where it is in the paper."""
    draw: Callable[[Sequence[Result]], Picture]
    arms: Callable[[], list[Arm]] = list
    """The runs it needs; none for what follows from formulas alone."""
    errors: str = "shaded: ± 1 standard error"
    """How the picture shows how sure its numbers are, in words for its margin; empty if it does not."""


class Need(NamedTuple):
    """What a figure lacks, and how long that would take."""

    complete: int
    """Runs that have reached the length asked for."""
    missing: list[Experiment]
    seconds: float
    measured: bool
    """Whether `seconds` rests on a run of each task, or on an assumption."""


def gather(arms: Sequence[Arm], runs: Sequence[Run]) -> list[Result]:
    """Each arm's runs, as they stood at the arm's length, and those that cannot be counted."""
    alike: dict[Experiment, list[Run]] = {}
    for run in runs:
        alike.setdefault(run.experiment.essence("seed", "steps"), []).append(run)
    results = []
    for arm in arms:
        steps = arm.experiment.steps
        own = alike.get(arm.experiment.essence("seed", "steps"), [])
        stood = [(run, run.until(steps)) for run in own]
        unfit = [out for run, then in stood if (out := _unfit(run, then, steps))]
        found = counted(then for run, then in stood if not _unfit(run, then, steps))
        results.append(Result(arm, found.runs, found.left_out + unfit))
    return results


def _unfit(run: Run, then: Run, steps: int) -> LeftOut | None:
    """Why a run, as it stood `then`, does not stand for one of so many steps; None if it does."""
    there, wanted = then.history.steps, steps_text(steps)
    if there < steps:
        return LeftOut(run, "shorter", f"{steps_text(there)} of {wanted} steps")
    why = depends_on_length(run.experiment)
    if why and run.experiment.steps != steps:
        reason = f"{steps_text(run.experiment.steps)} steps, and {why}"
        return LeftOut(run, "of another length", reason)
    if there - steps >= run.experiment.batch_steps:
        reason = f"archived in rows, of which none ends at {wanted} steps"
        return LeftOut(run, "of another length", reason)
    return None


def need(results: Sequence[Result], runs: Sequence[Run], seeds: int) -> Need:
    """The experiments still to be run, at the speed measured on `runs`."""
    complete, missing, seconds, measured = 0, [], 0.0, True
    for arm, own, left_out in results:
        there = {run.experiment.seed for run in own}
        # What was begun at this length goes on; a run of another length is another run.
        begun = {
            run.experiment.seed: run.history.steps
            for run, *_ in left_out
            if run.experiment.steps == arm.experiment.steps
        }
        speed = _speed(arm.experiment.env, runs)
        for seed in range(seeds):
            if seed in there:
                complete += 1
                continue
            missing.append(arm.experiment.replace(seed=seed))
            seconds += (arm.experiment.steps - begun.get(seed, 0)) / (speed or ASSUMED_SPEED)
            measured = measured and speed is not None
    return Need(complete, missing, seconds, measured)


def provenance(figure: Figure, results: Sequence[Result]) -> str:
    """What a picture rests on, for its margin: seeds and steps, there and in the paper, and what it leaves out."""
    with_runs = [result for result in results if result.runs]
    counts = [len(result.runs) for result in with_runs]
    steps = _span([run.history.steps for result in with_runs for run in result.runs], steps_text)
    arms = figure.arms()
    published = _span([arm.experiment.steps for arm in arms], steps_text)
    kind = lambda arm: arm.experiment.essence("seed", "steps")
    own = {kind(arm) for arm in arms}
    other = {arm.experiment.pessimism for arm, *_ in results if kind(arm) not in own}
    absent = len(results) - len(with_runs)
    longer = [run for arm, own, _ in results for run in own if run.experiment.steps > arm.experiment.steps]  # fmt: skip
    kinds = Counter(out.kind for result in results for out in result.left_out)
    parts = [_seeds(counts), f"{_of(steps, published)} steps"]
    parts += [f"SHAPO's δ {_span(sorted(other), '{:g}'.format)}"] if other else []
    parts += [f"{absent} of {len(results)} configurations not run"] if absent else []
    parts += [_as_they_stood(len(longer))] if longer else []
    parts += [f"left out: {', '.join(f'{n} {kind}' for kind, n in kinds.items())}"] if kinds else []
    parts += [figure.errors] if figure.errors else []
    return " · ".join(parts)


def _seeds(counts: Sequence[int]) -> str:
    there = _span(counts, str)
    if max(counts) > SEEDS:
        return f"{there} seeds, the paper has {SEEDS}"
    return f"{_of(there, str(SEEDS))} seeds"


def _as_they_stood(count: int) -> str:
    return (
        f"{count} longer runs as they stood then" if count > 1 else "1 longer run as it stood then"
    )


def drawable_steps(results: Sequence[Result]) -> int | None:
    """The length at which every arm that has runs at all could be drawn; None if none has."""
    lengths = [
        max(run.history.steps for run in (*own, *(out.run for out in left_out)))
        for _, own, left_out in results
        if own or left_out
    ]
    return min(lengths, default=None)


def _span(values: Sequence[float], text: Callable[[float], str]) -> str:
    low, high = text(min(values)), text(max(values))
    return low if low == high else f"{low}–{high}"


def _of(there: str, wanted: str) -> str:
    return there if there == wanted else f"{there} of {wanted}"


def _speed(env: str, runs: Sequence[Run]) -> float | None:
    speeds = [
        run.history.values("time/steps_per_second") for run in runs if run.experiment.env == env
    ]
    known = [float(np.nanmedian(speed)) for speed in speeds if not np.isnan(speed).all()]
    return float(np.median(known)) if known else None
