"""One update of every algorithm as shipped: a program of its own, because the tests have XLA optimise nothing.

    python shipped.py FILE quick|slow

FILE gets the batch and, for each algorithm and gradient rule, where θ went and what the update said of it.
"""

import sys
import typing

import numpy as np
from problems import ACT, KEY, flat, policy, progress, samples
from programs import compiled

from shapo.experiment import Algo, Experiment, GradientRule
from shapo.learning import recipes
from shapo.rules.steps import SKETCH_STATES, FisherSolver

HIDDEN = (16,)
ROWS = SKETCH_STATES * FisherSolver().thinning
"""As few as let a solve begin with a sketch."""
EXPERIMENT = Experiment(cost_limit=(1.0,), pessimism=1e-3, ppo_epochs=2)
COST = 2.0
"""Of an episode, above the limit: the constraint has a say."""
TWO_SLOPES = ("cpo", "cpo-as-released", "pcpo")
OWN_PROGRAM = ("cpo-as-released", "pcpo", "npg", "rcpo", "p3o", "focops", "cup")
"""Algorithms with a step that no other family has: each is another program to optimise, which takes its time."""


def speed_of(name: str, rule: str) -> str:
    """Whether it is one of the few programs that most algorithms share; SHAPO's has in it what the plain one does."""
    return "slow" if rule == "plain" or name in OWN_PROGRAM else "quick"


def cases(speed: str) -> list[tuple[str, str]]:
    return [
        (name, rule)
        for name in typing.get_args(Algo)
        for rule in typing.get_args(GradientRule)
        if (rule == "shapo" or (rule == "plain" and name not in TWO_SLOPES))
        and speed_of(name, rule) == speed
    ]


def main(file: str, speed: str) -> None:
    params = policy(hidden=HIDDEN)
    rows = samples(params, rows=ROWS)
    found = {"theta": flat(params)} | {f"samples/{k}": v for k, v in rows._asdict().items()}
    for name, rule in cases(speed):
        algorithm = compiled(recipes.algorithm(EXPERIMENT.replace(algo=name, gradient=rule), ACT))
        moved, _, metrics = algorithm.update(
            params, algorithm.init(params), rows, progress((COST,)), KEY
        )
        found[f"{name}/{rule}/theta"] = flat(moved)
        found |= {f"{name}/{rule}/{metric}": value for metric, value in metrics.items()}
    np.savez(file, **{name: np.asarray(value) for name, value in found.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
