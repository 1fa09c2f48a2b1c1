"""What CPO believes of its cost gradient's promises, and what other batches of the same policy say is true.

    python benchmarks/promises.py RUN [--batches 16]

The policy of a run's last checkpoint collects several batches. Each gives a gradient b of the cost loss by each rule,
and so a direction F⁻¹b; what it promises by its own batch is bᵀF⁻¹b. True is what the plain gradients of all the other
batches, which have no noise in common with it, say of that direction. Believed is what `shapo.rules.doubt` makes of
all batches together. Taken at its word, and "seen from the policy", where the rule's promise is reduced by the noise of
the plain gradient, are there to compare. All as shares of what the plain rule promises; ± over batches.
"""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
from batches import collected, mean
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from shapo.algorithms import Cpo
from shapo.learning import compiling
from shapo.rules.constrained import Products
from shapo.rules.doubt import Evidence, Followed, Kept, evidence
from shapo.rules.gradients import Gradient, Plain, Shapo
from shapo.rules.networks import Policy
from shapo.rules.solving import guess_of
from shapo.rules.steps import FisherSolver
from shapo.rules.surrogates import Samples, policy_behaviour, surrogate
from shapo.rules.trees import Tree, dot
from shapo.runs.folder import Run
from shapo.types import Progress

RADII = (1e-4, 1e-3, 1e-2)
"""Of SHAPO, per action dimension."""


class Look(NamedTuple):
    """A batch, as a rule sees it."""

    plain: Tree
    direction: Tree
    found: Evidence
    products: Products


@partial(jax.jit, static_argnums=(0, 1))
def look(rule: Gradient, solver: FisherSolver, params: Policy, samples: Samples) -> Look:
    """What a rule makes of a batch's cost."""
    one = np.float32(1)
    progress = Progress(one, one, one, np.ones(1, np.float32), one, one)
    behaviour, metric = policy_behaviour(samples.obs), solver.metric(samples, params)
    advantage = -samples.cost_advantage[:, 0]
    loss = surrogate(samples, advantage)
    slope = rule(loss, params, metric, behaviour, progress)
    solution = metric.solve(slope.grads, slope.natural)
    followed = Followed(advantage, slope, guess_of(slope.grads, solution))
    s = dot(slope.grads, solution.x)
    found = evidence(params, samples, followed, followed, metric)
    return Look(jax.grad(loss)(params), solution.x, found, Products.believed(s, s, s))


def row(looks: Sequence[Look]) -> list[NDArray]:
    """Promised, seen from the policy, believed and true, per batch."""
    kept = Kept.unknown()
    for each in looks:
        kept = kept.seen(each.found)
    share = np.sum([x.found.kept_s for x in looks]) / np.sum([x.found.promised_s for x in looks])
    kept = kept._replace(kept_s=share * kept.promised_s)  # of all batches alike
    promised = [each.products.s for each in looks]
    seen = [each.products.s - (each.found.promised_s - each.found.kept_s) for each in looks]
    believed = [kept.counted(each.products, each.found).kept_s for each in looks]
    true = [
        np.mean([dot(other.plain, each.direction) for other in looks if other is not each])
        for each in looks
    ]
    return [np.array(each, float) for each in (promised, seen, believed, true)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="the folder of a run of cpo")
    parser.add_argument("--batches", type=int, default=16)
    options = parser.parse_args()
    compiling.prepare()
    learner, state, found = collected(Run.open(options.run), options.batches)
    algorithm = learner.algorithm
    assert isinstance(algorithm, Cpo) and state.policy.log_std is not None
    actions = len(state.policy.log_std)
    rules: dict[str, Gradient] = {"plain": Plain()}
    rules |= {f"SHAPO δ {radius:g}": Shapo(radius * actions) for radius in RADII}
    table = Table("rule", "promised", "seen from the policy", "believed", "true")
    unit = 0.0
    for name, rule in rules.items():
        looks = [look(rule, algorithm.solver, state.policy, each.samples) for each in found]
        columns = row(looks)
        unit = unit or float(np.mean(columns[0]))
        table.add_row(name, *(mean(each / unit, ".3f") for each in columns))
    Console(width=120).print(options.run.name, table)


if __name__ == "__main__":
    main()
