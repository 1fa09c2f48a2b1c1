"""What sharpness-aware critics change, judged by batches that they have not seen.

    python benchmarks/one_critic.py RUN [--batches 16]

The policy of a run's last checkpoint collects several batches, and new critics are fitted to one after the other, as in
a training, by each rule. After every batch but the first few they are judged on all later ones. *Explained* is the
share of the variance of the targets, *too high* the mean error as a share of their standard deviation: a critic that
is pessimistic of cost says too much. Targets are those of the run's own critics, the same for all. Means ± standard
errors over repetitions, each with first weights, shuffles and an order of the batches of its own, the same for every
rule: what differs from the plain rule is compared within each.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from batches import collected, mean
from jax import Array
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from shapo.learning import compiling
from shapo.learning.appraisal import Appraisal
from shapo.learning.learner import Learner
from shapo.rules import networks
from shapo.rules.critics import Critics
from shapo.rules.gradients import Plain, Sam
from shapo.runs.folder import Run
from shapo.types import Progress

SETTLED = 4
"""Batches that a new critic is given before it is judged."""
RHOS = (0.005, 0.01, 0.05)


def rules(usual: Critics) -> dict[str, Critics]:
    """By name; the last is what else the release's sharpness-aware branch changes."""
    plain = replace(usual, gradient=Plain())
    sam = {f"SAM ρ {rho:g}": replace(usual, gradient=Sam(rho)) for rho in RHOS}
    return {"plain": plain, **sam, "half the weight decay": replace(plain, decay=usual.decay / 2)}


def judged(rule: Critics, learner: Learner, batches: Sequence[Appraisal], seed: int) -> NDArray:
    """Explained variance and mean error, [2, critics], over all batches yet unseen."""
    batches = [batches[i] for i in np.random.default_rng(seed).permutation(len(batches))]
    one = np.float32(1)
    progress = Progress(one, one, one, np.ones(1, np.float32), one, one)
    critics = tuple(rule.init(each.params) for each in learner.init(seed).critics)
    found = []
    for number, batch in enumerate(batches[:-1]):
        critics, _ = rule.fit(critics, batch.samples.obs, batch.targets, (seed, number), progress)
        if number + 1 >= SETTLED:
            later = batches[number + 1 :]
            obs = jnp.concatenate([each.samples.obs for each in later])
            targets = [jnp.concatenate(t) for t in zip(*(e.targets for e in later), strict=True)]
            found.append(
                [
                    scores(networks.value(critic.params, obs), target)
                    for critic, target in zip(critics, targets, strict=True)
                ]
            )
    return np.mean(found, axis=0).T


def scores(value: Array, target: Array) -> tuple[float, float]:
    """The share of the variance that is explained, and the mean error in standard deviations."""
    error = value - target
    return float(1 - jnp.mean(error**2) / jnp.var(target)), float(error.mean() / target.std())


def table(learner: Learner, batches: Sequence[Appraisal], repetitions: int) -> Table:
    """Every rule, by what it differs from the plain one."""
    found = {
        name: np.stack([judged(rule, learner, batches, each) for each in range(repetitions)])
        for name, rule in rules(learner.critics).items()
    }
    columns = ("explained", "more than plain", "too high", "more than plain")
    result = Table(
        "rule", *(f"{whose}: {what}" for whose in ("reward", "cost") for what in columns)
    )
    for name, numbers in found.items():
        cells = []
        for critic in range(2):
            for what in range(2):
                own, plain = numbers[:, what, critic], found["plain"][:, what, critic]
                cells += [mean(own, ".3f"), "" if name == "plain" else mean(own - plain, "+.4f")]
        result.add_row(name, *cells)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="a run's folder")
    parser.add_argument("--batches", type=int, default=16)
    parser.add_argument("--repetitions", type=int, default=6)
    options = parser.parse_args()
    compiling.prepare()
    learner, _, batches = collected(Run.open(options.run), options.batches)
    Console(width=180).print(table(learner, batches, options.repetitions))


if __name__ == "__main__":
    main()
