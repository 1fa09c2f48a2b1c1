"""Runs that differ by seed alone, put together; and other gradient rules against the plain one, pair by pair."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shapo.experiment import Experiment
from shapo.experiment.extensions import IN_ALGO
from shapo.experiments.counting import LeftOut, counted
from shapo.experiments.quantities import COST_RATE, RETURN
from shapo.experiments.statistics import Interval, paired_difference, probability_of_improvement
from shapo.runs.folder import Run
from shapo.words import steps_text

NAMED_ANYWAY = ("env", "algo", "gradient", "critic_gradient", "seed", "workers")
CHOICES = tuple(f.name for f in dataclasses.fields(Experiment) if f.name not in NAMED_ANYWAY)
"""Fields that a label states where they tell groups apart."""
ACTOR = ("seed", "gradient", "schedule", "pessimism", "alpha", "rho")
"""What may differ between two groups of which one has a pessimistic actor and the other a plain one."""
ACTOR_AND_CRITICS = (*ACTOR, "critic_gradient", "rho_critic")
"""Likewise where the critics' rule differs, too."""
USUAL_CRITICS = {"plain": "plain", "sam": "plain", "shapo": "sam"}
"""The critics' rule that goes without saying."""


class Group(NamedTuple):
    """One experiment over its seeds."""

    experiment: Experiment
    """Its essence: what all its runs have in common."""
    label: str
    runs: list[Run]
    """One per seed, all equally long: what is averaged."""
    left_out: list[LeftOut]

    @property
    def env(self) -> str:
        """What its runs were trained on."""
        return self.experiment.env

    @property
    def steps(self) -> int:
        """How far its runs have come."""
        return self.runs[0].history.steps

    @property
    def by_seed(self) -> dict[int, Run]:
        """Its runs, each under its seed."""
        return {run.experiment.seed: run for run in self.runs}


class Comparison(NamedTuple):
    """What a gradient rule changed, over the seeds that both sides have."""

    env: str
    label: str
    pairs: int
    reward: Interval
    cost_rate: Interval
    better_reward: float
    """Probability that a run with it has more return than a plain one."""
    safer: float
    """Probability that a run with it has a lower cost rate than a plain one."""


class Comparisons(NamedTuple):
    """Everything that can be compared, and a line about each pair that cannot."""

    made: list[Comparison]
    not_made: list[str]


def grouped(runs: Sequence[Run]) -> list[Group]:
    """The runs' experiments, by environment and label.

    A label is the algorithm and gradient rule, and whatever else tells its group from the others of that environment.
    """
    alike: dict[Experiment, list[Run]] = {}
    for run in runs:
        alike.setdefault(run.experiment.essence("seed"), []).append(run)
    families: dict[tuple[str, str, str], list[Experiment]] = {}
    for experiment in alike:
        families.setdefault(_family(experiment), []).append(experiment)
    groups = [
        Group(experiment, _label(experiment, families[_family(experiment)]), *counted(members))
        for experiment, members in alike.items()
    ]
    return sorted(groups, key=lambda group: (group.env, group.label))


def comparisons(groups: Sequence[Group]) -> Comparisons:
    """Each other gradient rule minus plain, for each environment, algorithm and setting where both were run."""
    found = Comparisons([], [])
    for treated in groups:
        baseline, difference = baseline_of(treated, groups)
        if baseline is None:
            continue
        label = f"{treated.label} − {baseline.label}{difference}"
        seeds = treated.by_seed.keys() & baseline.by_seed.keys()
        if treated.steps != baseline.steps:
            lengths = f"{steps_text(treated.steps)} and {steps_text(baseline.steps)} steps"
            found.not_made.append(f"{treated.env}: {label}: one has come further ({lengths})")
        elif not seeds:
            found.not_made.append(f"{treated.env}: {label}: no seed in common")
        elif (made := _compared(treated, baseline, label, sorted(seeds))) is None:
            found.not_made.append(f"{treated.env}: {label}: a run has no episode that ended")
        else:
            found.made.append(made)
    return found


def baseline_of(treated: Group, groups: Sequence[Group]) -> tuple[Group | None, str]:
    """The group without the rule: plain actor, plain critics. Failing that, one that differs in the actor's rule alone,
    with a word to say so."""
    if treated.experiment.gradient in ("plain", IN_ALGO):
        return None, ""

    def closest(critics: str, set_aside: tuple[str, ...]) -> Group | None:
        candidates = [
            group
            for group in groups
            if group.experiment.gradient == "plain"
            and group.experiment.critic_gradient == critics
            and group.experiment.essence(*set_aside) == treated.experiment.essence(*set_aside)
        ]
        shared = lambda group: len(group.by_seed.keys() & treated.by_seed.keys())
        return max(candidates, key=shared, default=None)

    if plain := closest("plain", ACTOR_AND_CRITICS):
        return plain, ""
    return closest(treated.experiment.critic_gradient, ACTOR), " (the actor's rule alone)"


def _compared(
    treated: Group, baseline: Group, label: str, seeds: Sequence[int]
) -> Comparison | None:
    ours, theirs = treated.by_seed, baseline.by_seed
    reward, rate = (
        (
            np.array([quantity.of(ours[seed]) for seed in seeds]),
            np.array([quantity.of(theirs[seed]) for seed in seeds]),
        )
        for quantity in (RETURN, COST_RATE)
    )
    if not np.isfinite([*reward, *rate]).all():
        return None
    return Comparison(
        env=treated.env,
        label=label,
        pairs=len(seeds),
        reward=paired_difference(*reward),
        cost_rate=paired_difference(*rate),
        better_reward=probability_of_improvement(*reward),
        safer=probability_of_improvement(-rate[0], -rate[1]),
    )


def critics_said(rule: str) -> str:
    """The critics' rule in a label."""
    return f"{rule} critics"


def _family(experiment: Experiment) -> tuple[str, str, str]:
    return experiment.env, experiment.algo, experiment.gradient


def _label(mine: Experiment, family: Sequence[Experiment]) -> str:
    words = [mine.algo, *([] if mine.gradient == IN_ALGO else [mine.gradient])]
    if mine.critic_gradient != USUAL_CRITICS.get(mine.gradient, "plain"):
        words.append(critics_said(mine.critic_gradient))
    for name in CHOICES:
        value = getattr(mine, name)
        if any(getattr(each, name) != value for each in family):
            words.append(f"{steps_text(value)} steps" if name == "steps" else f"{name} {value}")
    return " · ".join(words)
