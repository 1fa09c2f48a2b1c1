"""What SHAPO changes in one update of a policy, judged by batches that the update has not seen.

    python benchmarks/one_update.py RUN [--batches 8]

The policy of a run's last checkpoint collects several batches. With each of them it is updated by each gradient rule
from the same place; every new policy is then judged on all the other batches: by its surrogate of the objective, by
that of the cost per step, and by how much less probable it makes the actions of the highest cost advantage, one in a
hundred. Turning is the angle between two steps as the policy sees it (in the Fisher metric): between a rule's and the
plain one on the same batch, and between the plain ones of two batches, which differ by chance alone. Means ± standard
errors over batches. The last row is what more data would do: the plain rule with all batches but one, judged on that.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from batches import collected, mean
from rich.console import Console
from rich.table import Table

from shapo.learning import compiling
from shapo.rules.gradients import Gradient, Plain, Sam, Shapo
from shapo.rules.networks import Policy
from shapo.rules.steps import TrustRegion
from shapo.rules.surrogates import Samples, surrogate
from shapo.rules.trees import add, dot
from shapo.runs.folder import Run
from shapo.types import Progress

COSTLIEST = 0.99
RADII = (1e-5, 1e-4, 1e-3, 1e-2)
"""Of SHAPO, per action dimension."""


class Seen(NamedTuple):
    """A batch, and the advantage that the algorithm climbs on it."""

    samples: Samples
    advantage: jax.Array


class Updated(NamedTuple):
    """A policy after one update with a batch."""

    policy: Policy
    move: Policy
    metrics: dict[str, jax.Array]


def looked_at(run: Run, batches: int) -> tuple[Policy, TrustRegion, list[Seen]]:
    """The run's policy, its step, and several batches of it with the advantage that its algorithm climbs."""
    learner, state, found = collected(run, batches)
    advantage = lambda samples: learner.algorithm.objective.advantage(
        state.algorithm.objective, samples.reward_advantage, samples.cost_advantage
    )
    seen = [Seen(each.samples, advantage(each.samples)) for each in found]
    return state.policy, learner.algorithm.step, seen


def updater(step: TrustRegion, rule: Gradient, policy: Policy) -> Callable[[Seen], Updated]:
    """One update by a rule, from the policy."""
    progress = Progress(*(np.float32(1),) * 3, np.ones(1, np.float32), *(np.float32(1),) * 2)
    own = TrustRegion(step.radius, rule, step.solver)

    @jax.jit
    def update(seen: Seen) -> Updated:
        new, _, metrics = own.update(
            policy, (), *seen, progress=progress, key=jax.random.PRNGKey(0)
        )
        return Updated(new, add(new, policy, -1.0), metrics)

    return update


def rules(actions: int, distance: Callable[[float], float]) -> dict[str, Gradient]:
    """By name: plain, SHAPO by radius, and E-SAM as far in parameters as SHAPO of the same radius."""
    shapo = {f"SHAPO δ {radius:g}": Shapo(radius * actions) for radius in RADII}
    esam = {f"E-SAM ρ {distance(r):.2g}": Sam(distance(r)) for r in RADII[1:]}
    return {"plain": Plain(), **shapo, **esam}


def judged(policy: Policy, step: TrustRegion, batches: Sequence[Seen]) -> Table:
    """Every rule on every batch, judged on every other."""
    actions = len(policy.log_std)

    @jax.jit
    def gains(new: Policy, seen: Seen) -> jax.Array:
        samples = seen.samples
        cost = samples.cost_advantage[:, 0]
        rare = cost >= jnp.quantile(cost, COSTLIEST)
        gain = lambda weight: surrogate(samples, weight)(policy) - surrogate(samples, weight)(new)
        return jnp.stack([gain(seen.advantage), gain(cost), gain(rare / rare.mean())])

    @jax.jit
    def turning(a: Policy, b: Policy, seen: Seen) -> jax.Array:
        fisher = step.solver.metric(seen.samples, policy).apply
        inner = lambda x, y: dot(x, fisher(y))
        return jnp.degrees(
            jnp.arccos(jnp.clip(inner(a, b) / jnp.sqrt(inner(a, a) * inner(b, b)), -1, 1))
        )

    def distance(radius: float) -> float:
        update = updater(step, Shapo(radius * actions), policy)
        return float(np.mean([update(seen).metrics["gradient/distance"] for seen in batches]))

    columns = ("rule", "cos(g, g̃)", "turned by", "gain, own batch", "on others", "more than plain",
               "cost per step", "costliest 1 %")  # fmt: skip
    table = Table(*columns)
    plain = [updater(step, Plain(), policy)(seen) for seen in batches]
    pairs = [(i, j) for i in range(len(batches)) for j in range(len(batches)) if i != j]
    first = None
    chance = [float(turning(plain[i].move, plain[j].move, batches[i])) for i, j in pairs]
    for name, rule in rules(actions, distance).items():
        update = updater(step, rule, policy)
        updated = [update(seen) for seen in batches]
        own = [float(gains(u.policy, s)[0]) for u, s in zip(updated, batches, strict=True)]
        others = [
            np.mean([gains(u.policy, s) for j, s in enumerate(batches) if j != i], axis=0)
            for i, u in enumerate(updated)
        ]
        turned = [
            float(turning(p.move, u.move, seen))
            for p, u, seen in zip(plain, updated, batches, strict=True)
            if u.metrics["policy/fraction"] > 0
        ]
        cosine = [float(u.metrics.get("gradient/cosine", 1.0)) for u in updated]
        gain, cost, rare = np.transpose(others)
        first = gain if first is None else first
        table.add_row(
            name, mean(cosine, ".4f"), mean(turned, ".1f") + "°", mean(own, ".4f"),
            mean(gain, ".4f"), mean(gain - first, "+.5f"), mean(cost, "+.5f"),
            mean(100 * rare, "+.2f") + " %",
        )  # fmt: skip
    update, pooled = updater(step, Plain(), policy), []
    for i, unseen in enumerate(batches):
        rest = jax.tree.map(lambda *parts: jnp.concatenate(parts), *batches[:i], *batches[i + 1 :])
        new = update(rest).policy
        pooled.append([float(gains(new, rest)[0]), *gains(new, unseen)])
    own, gain, cost, rare = np.transpose(pooled)
    table.add_row(
        f"plain, {len(batches) - 1} at once", "", "", mean(own, ".4f"), mean(gain, ".4f"),
        mean(gain - first, "+.5f"), mean(cost, "+.5f"), mean(100 * rare, "+.2f") + " %",
    )  # fmt: skip
    table.caption = f"two batches turn the plain step by {mean(chance, '.1f')}°"
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="a run's folder, of trpo-pid or trpo-lagrangian")
    parser.add_argument("--batches", type=int, default=8)
    options = parser.parse_args()
    compiling.prepare()
    Console(width=150).print(judged(*looked_at(Run.open(options.run), options.batches)))


if __name__ == "__main__":
    main()
