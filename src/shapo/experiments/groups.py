"""Runs that differ by seed alone, put together; and SHAPO against the plain rule, pair by pair."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shapo.experiment import Experiment
from shapo.experiments.statistics import Interval, paired_difference, probability_of_improvement
from shapo.runs.reading import Run

NOT_A_CHOICE = ("env", "algo", "gradient", "seed", "steps", "workers")
"""Fields that are named otherwise or do not make another method."""

PLAIN = Experiment()
SET_ASIDE = {
    name: getattr(PLAIN, name)
    for name in (
        *("gradient", "critic_gradient", "schedule", "pessimism", "alpha", "rho", "rho_critic"),
        *("seed", "workers"),
    )
}
"""What may differ between a SHAPO run and the plain run it is compared with."""


class Group(NamedTuple):
    """One configuration on one environment, over its seeds."""

    env: str
    label: str
    gradient: str
    runs: list[Run]


class Comparison(NamedTuple):
    """What SHAPO changed, over the seeds that both sides have."""

    env: str
    label: str
    pairs: int
    reward: Interval
    cost_rate: Interval
    better_reward: float
    """Probability that a SHAPO run has more return than a plain one."""
    safer: float
    """Probability that a SHAPO run has a lower cost rate than a plain one."""


def grouped(runs: Sequence[Run]) -> list[Group]:
    """The runs' configurations, by environment and label.

    A label is the algorithm and gradient rule, and whatever else tells its runs apart.
    """
    families: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        mine = run.experiment
        families.setdefault((mine.env, mine.algo, mine.gradient), []).append(run)
    groups: dict[tuple[str, str], Group] = {}
    for (env, algo, gradient), family in families.items():
        varying = _varying([run.experiment for run in family])
        for run in family:
            choices = [f"{name} {getattr(run.experiment, name)}" for name in varying]
            choices += [f"{name} {text}" for name, text in run.custom.items()]
            label = " · ".join([algo, gradient, *choices])
            groups.setdefault((env, label), Group(env, label, gradient, [])).runs.append(run)
    return [groups[key] for key in sorted(groups)]


def comparisons(runs: Sequence[Run]) -> list[Comparison]:
    """SHAPO minus plain, for each environment, algorithm and setting where both were run."""
    groups = grouped(runs)
    plain = {_without_shapo(group): group for group in groups if group.gradient == "plain"}
    treated = [group for group in groups if group.gradient == "shapo"]
    pairs = [(group, plain.get(_without_shapo(group))) for group in treated]
    return [
        comparison
        for group, baseline in pairs
        if baseline is not None and (comparison := _compared(group, baseline)) is not None
    ]


def _compared(treated: Group, baseline: Group) -> Comparison | None:
    ours, theirs = _by_seed(treated), _by_seed(baseline)
    seeds = sorted(ours.keys() & theirs.keys())
    if not seeds:
        return None
    reward, rate = (
        (
            np.array([value(ours[seed]) for seed in seeds]),
            np.array([value(theirs[seed]) for seed in seeds]),
        )
        for value in (lambda run: run.final("reward/episode"), lambda run: run.last("cost/rate"))
    )
    if not np.isfinite([*reward, *rate]).all():
        return None
    return Comparison(
        env=treated.env,
        label=f"{treated.label} − {baseline.label}",
        pairs=len(seeds),
        reward=paired_difference(*reward),
        cost_rate=paired_difference(*rate),
        better_reward=float(probability_of_improvement([reward[0]], [reward[1]])),
        safer=float(probability_of_improvement([-rate[0]], [-rate[1]])),
    )


def _without_shapo(group: Group) -> Experiment:
    """The group's experiment with all that belongs to SHAPO or to a single run set aside."""
    return group.runs[0].experiment.replace(**SET_ASIDE)


def _by_seed(group: Group) -> dict[int, Run]:
    """One run per seed, the longest."""
    return {run.experiment.seed: run for run in sorted(group.runs, key=lambda run: run.steps)}


def _varying(family: Sequence[Experiment]) -> list[str]:
    names = [f.name for f in dataclasses.fields(Experiment) if f.name not in NOT_A_CHOICE]
    return [name for name in names if len({getattr(member, name) for member in family}) > 1]
