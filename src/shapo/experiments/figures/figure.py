"""What a figure is: the runs it needs and how it is drawn from those there are."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Picture

from shapo.experiment import Experiment
from shapo.experiments.style import Look, steps_text
from shapo.runs.reading import Run

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

    def owns(self, run: Run) -> bool:
        """Whether a run is this arm's: equal in all but seed, length and number of workers."""
        if run.custom:
            return False
        mine = self.experiment
        theirs = run.experiment.replace(seed=mine.seed, steps=mine.steps, workers=mine.workers)
        return theirs == mine

    def with_steps(self, steps: int) -> "Arm":
        """The same configuration, trained for longer or shorter."""
        return dataclasses.replace(self, experiment=self.experiment.replace(steps=steps))


class Result(NamedTuple):
    """The runs of an arm, one per seed."""

    arm: Arm
    runs: list[Run]


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
    seeds: int = 5


class Need(NamedTuple):
    """What a figure lacks, and how long that would take."""

    complete: int
    """Runs that have reached the length asked for."""
    missing: list[Experiment]
    seconds: float
    measured: bool
    """Whether `seconds` rests on a run of each task, or on an assumption."""


def gather(arms: Sequence[Arm], runs: Sequence[Run]) -> list[Result]:
    """Each arm's runs; of several with the same seed, the longest."""
    results = []
    for arm in arms:
        by_seed: dict[int, Run] = {}
        for run in filter(arm.owns, runs):
            rival = by_seed.get(run.experiment.seed)
            if rival is None or run.steps > rival.steps:
                by_seed[run.experiment.seed] = run
        results.append(Result(arm, [by_seed[seed] for seed in sorted(by_seed)]))
    return results


def need(results: Sequence[Result], runs: Sequence[Run], seeds: int) -> Need:
    """The experiments still to be run, at the speed measured on `runs`."""
    complete, missing, seconds, measured = 0, [], 0.0, True
    for arm, own in results:
        reached = {run.experiment.seed: run.steps for run in own}
        speed = _speed(arm.experiment.env, runs)
        for seed in range(seeds):
            lacking = arm.experiment.steps - reached.get(seed, 0)
            if lacking <= 0:
                complete += 1
                continue
            missing.append(arm.experiment.replace(seed=seed))
            seconds += lacking / (speed or ASSUMED_SPEED)
            measured = measured and speed is not None
    return Need(complete, missing, seconds, measured)


def provenance(figure: Figure, results: Sequence[Result]) -> str:
    """What a picture rests on, for its margin: seeds and steps, there and in the paper."""
    with_runs = [result for result in results if result.runs]
    seeds = _span([len(result.runs) for result in with_runs], str)
    steps = _span([run.steps for result in with_runs for run in result.runs], steps_text)
    published = _span([arm.experiment.steps for arm in figure.arms()], steps_text)
    absent = len(results) - len(with_runs)
    parts = [f"{_of(seeds, str(figure.seeds))} seeds", f"{_of(steps, published)} steps"]
    parts += [f"{absent} of {len(results)} configurations not run"] if absent else []
    return " · ".join(parts)


def _span(values: Sequence[int], text: Callable[[float], str]) -> str:
    low, high = text(min(values)), text(max(values))
    return low if low == high else f"{low}–{high}"


def _of(there: str, wanted: str) -> str:
    return there if there == wanted else f"{there} of {wanted}"


def _speed(env: str, runs: Sequence[Run]) -> float | None:
    speeds = [run.values("time/steps_per_second") for run in runs if run.experiment.env == env]
    known = [float(np.nanmedian(speed)) for speed in speeds if not np.isnan(speed).all()]
    return float(np.median(known)) if known else None
