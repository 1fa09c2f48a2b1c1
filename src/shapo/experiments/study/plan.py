"""Which arms the study runs, block by block in the order of worth, and what is compared. Written before the runs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shapo.experiment import Experiment
from shapo.experiments.counting import counted
from shapo.runs.folder import Run
from shapo.runs.history import known_mean

FIRST_SEEDS = 5
"""By these the radius of the later blocks is chosen."""
RADII = (1e-4, 1e-3)
PLAIN = "plain"


class Metric(NamedTuple):
    """A number of a run, and which way is better."""

    name: str
    measure: Callable[[Run], float]
    sign: int
    """1 if more is better, −1 if less is."""
    matters: Callable[[float], float]
    """The smallest improvement that would matter, given the baseline's mean."""


RETURN = Metric("return", lambda run: run.history.final("reward/episode"), 1, lambda base: 2.0)
COST_RATE = Metric(
    "cost rate", lambda run: run.history.last("cost/rate"), -1, lambda base: 0.05 * base
)
FALLS = Metric("falls", lambda run: run.history.last("termination/total"), -1, lambda base: 0.05 * base)  # fmt: skip


class Contrast(NamedTuple):
    """A primary comparison: one arm against another, by one number."""

    ours: str
    theirs: str
    metric: Metric


@dataclass(frozen=True)
class Block:
    """Arms that are run and judged together; Holm's correction is over a block's contrasts."""

    name: str
    arms: Mapping[str, Experiment]
    seeds: int
    contrasts: Sequence[Contrast]

    def experiments(self, finished: Sequence[Run] = ()) -> list[Experiment]:
        """Every run of the block that is not there yet, seed by seed: whatever is there early is a fair sample."""
        there = {name: runs_of(arm, finished).keys() for name, arm in self.arms.items()}
        return [
            arm.replace(seed=seed)
            for seed in range(self.seeds)
            for name, arm in self.arms.items()
            if seed not in there[name]
        ]


def blocks(runs: Sequence[Run]) -> list[Block]:
    """The blocks that can be run now: the later ones need what the first has chosen."""
    found = [flagship(FIRST_SEEDS), flagship(10)]
    radius = chosen_radius(runs)
    if radius is None:
        return found[:1]
    return [*found, *_ablations(radius, runs), *_bases(radius), _falls(radius)]


def flagship(seeds: int) -> Block:
    """PID-Lagrangian on PointGoal1, without SHAPO and with two radii."""
    arms = {PLAIN: _pid(), **{_shapo(radius): _pid(radius) for radius in RADII}}
    contrasts = [
        Contrast(_shapo(radius), PLAIN, metric)
        for metric in (RETURN, COST_RATE)
        for radius in RADII
    ]
    return Block("flagship", arms, seeds, contrasts)


def chosen_radius(runs: Sequence[Run]) -> float | None:
    """The radius with the higher mean return over the flagship's first seeds; None as long as some are missing."""
    means = {}
    for radius in RADII:
        by_seed = runs_of(_pid(radius), runs)
        if not set(range(FIRST_SEEDS)) <= by_seed.keys():
            return None
        means[radius] = np.mean([RETURN.measure(by_seed[seed]) for seed in range(FIRST_SEEDS)])
    return max(means, key=lambda radius: means[radius])


def runs_of(arm: Experiment, runs: Iterable[Run]) -> dict[int, Run]:
    """The finished runs of an arm, by seed."""
    wanted = arm.essence("seed")
    own = (r for r in runs if r.finished and r.experiment.essence("seed") == wanted)
    return {run.experiment.seed: run for run in counted(own).runs}


def _ablations(radius: float, runs: Sequence[Run]) -> list[Block]:
    ours = _shapo(radius)
    pair = {PLAIN: _pid(), ours: _pid(radius)}

    def block(name: str, others: Mapping[str, Experiment]) -> Block:
        against = [Contrast(arm, base, RETURN) for base in pair for arm in others]
        return Block(name, pair | dict(others), FIRST_SEEDS, against)

    return [
        block(
            "radius",
            {_shapo(other): _pid(other) for other in (1e-5, 1e-2)}
            | {f"ρ_critic {rho:g}": _pid(radius, rho_critic=rho) for rho in (0.005, 0.05)},
        ),
        block(
            "parts",
            {
                "actor alone": _pid(radius, critic_gradient="plain"),
                "SAM critics alone": _pid(critic_gradient="sam"),
                "half the weight decay": _pid(critic_decay=5e-4),
            },
        ),
        block("metric", {f"E-SAM as far as {_shapo(r)}": _esam(r, runs) for r in RADII}),
        block(
            "schedules",
            {f"α {alpha:g}": _pid(radius, schedule="alpha", alpha=alpha) for alpha in (0.05, 0.4)}
            | {"effective α 0.05": _pid(radius, schedule="effective-alpha", alpha=0.05)},
        ),
    ]


def _bases(radius: float) -> list[Block]:
    return [
        Block(
            f"base {algo}",
            {
                PLAIN: Experiment(algo=algo),
                _shapo(radius): Experiment(algo=algo, gradient="shapo", pessimism=radius),
            },
            FIRST_SEEDS,
            [Contrast(_shapo(radius), PLAIN, RETURN)],
        )
        for algo in ("crpo", "cpo", "saute", "trpo-lagrangian")
    ]


def _falls(radius: float) -> Block:
    radii = sorted({1e-4, radius})
    algos = ("trpo-pid", "crpo", "cpo")
    walker = lambda algo, **choices: Experiment("Walker2d-v4", algo, **choices)
    arms = {f"{algo} {PLAIN}": walker(algo) for algo in algos} | {
        f"{algo} {_shapo(r)}": walker(algo, gradient="shapo", pessimism=r)
        for algo in algos
        for r in radii
    }
    contrasts = [
        Contrast(f"{algo} {_shapo(r)}", f"{algo} {PLAIN}", FALLS) for algo in algos for r in radii
    ]
    return Block("falls", arms, FIRST_SEEDS, contrasts)


def _pid(radius: float | None = None, **choices) -> Experiment:
    if radius is not None:
        choices = {"gradient": "shapo", "pessimism": radius} | choices
    if "alpha" in choices:
        del choices["pessimism"]  # it does nothing there
    return Experiment("SafetyPointGoal1-v0", "trpo-pid", **choices)


def _esam(radius: float, runs: Sequence[Run]) -> Experiment:
    """E-SAM that looks as far in parameters as SHAPO of this radius does on average."""
    distances = [
        known_mean(run.history.values("gradient/distance"))
        for seed, run in runs_of(_pid(radius), runs).items()
        if seed < FIRST_SEEDS
    ]
    return _pid(gradient="sam", critic_gradient="sam", rho=float(f"{np.mean(distances):.2g}"))


def _shapo(radius: float) -> str:
    return f"SHAPO δ {radius:.0e}".replace("e-0", "e-")
