"""What SHAPO changes in one update of a policy, judged by batches that the update has not seen.

    python benchmarks/one_update.py RUN [RUN ...] [--batches 8]

The policy of a run's last checkpoint collects several batches. With each of them it is updated by each gradient rule
from the same place; every new policy is then judged on all the other batches: by its surrogate of the objective, by
that of the cost per step, and by how probable it makes the actions of the highest cost advantage, one in a hundred, and
as a control those of the lowest. Turning is the angle between two steps as the policy sees it (in the Fisher metric):
between a rule's and the plain one on the same batch, and between the plain ones of two batches, which differ by chance
alone. Means ± standard errors over batches; of several runs, over their policies. The last row is what more data would
do: the plain rule with all batches but one, judged on that.
"""

import argparse
import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from batches import Numbers, collected, mean
from jax import Array
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from shapo.algorithms.search import PolicySearch
from shapo.learning import compiling
from shapo.rules.gradients import Gradient, Plain, Sam, Shapo
from shapo.rules.networks import Policy
from shapo.rules.steps import TrustRegion
from shapo.rules.surrogates import Samples, surrogate
from shapo.rules.trees import add, dot
from shapo.runs.folder import Run
from shapo.types import Progress

RARE = 0.01
RADII = (1e-5, 1e-4, 1e-3, 1e-2)
"""Of SHAPO, per action dimension."""


class Seen(NamedTuple):
    """A batch, and the advantage that the algorithm climbs on it."""

    samples: Samples
    advantage: Array


class Judged(NamedTuple):
    """What became of a rule's updates, a number per batch each."""

    cosine: Numbers
    turned: Numbers
    own: Numbers
    """Gain on the batch itself."""
    others: Numbers
    """On batches that it has not seen."""
    more: Numbers
    """Than the plain rule, there."""
    cost: Numbers
    """By how much it rises per step, there."""
    costliest: Numbers
    """By how many percent the costliest actions become more probable, there."""
    costliest_more: Numbers
    """Than by the plain rule."""
    cheapest: Numbers
    cheapest_more: Numbers


COLUMNS = (
    ("cos(g, g̃)", ".4f"), ("turned by, °", ".1f"), ("gain, own batch", ".4f"), ("on others", ".4f"),
    ("more than plain", "+.5f"), ("cost per step", "+.5f"), ("costliest 1 %, %", "+.2f"),
    ("more than plain", "+.2f"), ("cheapest 1 %, %", "+.2f"), ("more than plain", "+.2f"),
)  # fmt: skip


class Updated(NamedTuple):
    """A policy after one update with a batch."""

    policy: Policy
    move: Policy
    metrics: dict[str, Array]


def looked_at(run: Run, batches: int) -> tuple[Policy, TrustRegion, list[Seen]]:
    """The run's policy, its step, and several batches of it with the advantage that its algorithm climbs."""
    learner, state, found = collected(run, batches)
    algorithm = learner.algorithm
    assert isinstance(algorithm, PolicySearch) and isinstance(algorithm.step, TrustRegion)
    step = algorithm.step
    advantage = lambda samples: algorithm.objective.advantage(
        state.algorithm.objective, samples.reward_advantage, samples.cost_advantage
    )
    seen = [Seen(each.samples, advantage(each.samples)) for each in found]
    return state.policy, TrustRegion(step.radius, solver=step.solver), seen


RULES: dict[str, Callable[[int, Array], Gradient]] = {
    "plain": lambda actions, reach: Plain(),
    **{
        f"SHAPO δ {radius:g}": lambda actions, reach, radius=radius: Shapo(radius * actions)
        for radius in RADII
    },
    **{
        f"E-SAM as far as δ {radius:g}": lambda actions, reach: Sam(lambda progress: reach)
        for radius in RADII[1:]
    },
}
"""Of so many action dimensions; E-SAM goes as far in parameters as it is told."""


# What is compiled is compiled once for all policies: they are arguments, and so is E-SAM's reach.


@partial(jax.jit, static_argnums=(0, 1))
def updated(step: TrustRegion, rule: str, policy: Policy, seen: Seen, reach: Array) -> Updated:
    """One update from the policy."""
    one = np.float32(1)
    progress = Progress(one, one, one, np.ones(1, np.float32), one, one)
    assert policy.log_std is not None  # radii are per action dimension; choices have none
    own = TrustRegion(step.radius, RULES[rule](len(policy.log_std), reach), step.solver)
    new, _, metrics = own.update(policy, (), *seen, progress=progress, key=jax.random.PRNGKey(0))
    return Updated(new, add(new, policy, -1.0), metrics)


@jax.jit
def gains(policy: Policy, new: Policy, seen: Seen) -> Array:
    """How much the objective, the cost per step and, in percent, the costliest and the cheapest actions gain."""
    samples = seen.samples
    cost = samples.cost_advantage[:, 0]
    few = [cost >= jnp.quantile(cost, 1 - RARE), cost <= jnp.quantile(cost, RARE)]
    gain = lambda weight: surrogate(samples, weight)(policy) - surrogate(samples, weight)(new)
    shares = (100 * gain(rare / rare.mean()) for rare in few)
    return jnp.stack([gain(seen.advantage), gain(cost), *shares])


@partial(jax.jit, static_argnums=0)
def turning(step: TrustRegion, policy: Policy, a: Policy, b: Policy, seen: Seen) -> Array:
    """The angle between two moves of a policy, in degrees."""
    fisher = step.solver.metric(seen.samples, policy).apply
    inner = lambda x, y: dot(x, fisher(y))
    cosine = inner(a, b) / jnp.sqrt(inner(a, a) * inner(b, b))
    return jnp.degrees(jnp.arccos(jnp.clip(cosine, -1, 1)))


def judged(
    policy: Policy, step: TrustRegion, batches: Sequence[Seen]
) -> tuple[dict[str, Judged], list[float]]:
    """Every rule on every batch, judged on every other; and by how much chance turns the plain step."""
    pairs = list(itertools.permutations(range(len(batches)), 2))
    plain, chance, found, reaches = [], [], {}, {}
    for name in RULES:
        _, _, radius = name.rpartition(" ")
        reach = jnp.asarray(reaches.get(radius, 0.0))
        done = [updated(step, name, policy, seen, reach) for seen in batches]
        if name == "plain":
            plain = done
            chance = [
                float(turning(step, policy, plain[i].move, plain[j].move, batches[i]))
                for i, j in pairs
            ]
        if name.startswith("SHAPO"):
            reaches[radius] = np.mean([u.metrics["gradient/distance"] for u in done])
        others = [
            np.mean([gains(policy, u.policy, s) for j, s in enumerate(batches) if j != i], axis=0)
            for i, u in enumerate(done)
        ]
        turned = [
            float(turning(step, policy, p.move, u.move, seen))
            for p, u, seen in zip(plain, done, batches, strict=True)
            if u.metrics["policy/fraction"] > 0
        ]
        own = [float(gains(policy, u.policy, s)[0]) for u, s in zip(done, batches, strict=True)]
        cosine = [float(u.metrics.get("gradient/cosine", 1.0)) for u in done]
        found[name] = compared(cosine, turned, own, np.transpose(others), found.get("plain"))
    pooled = []
    for i, unseen in enumerate(batches):
        rest = jax.tree.map(lambda *parts: jnp.concatenate(parts), *batches[:i], *batches[i + 1 :])
        new = updated(step, "plain", policy, rest, jnp.zeros(())).policy
        pooled.append([float(gains(policy, new, rest)[0]), *gains(policy, new, unseen)])
    own, *unseen = np.transpose(pooled)
    found[f"plain, {len(batches) - 1} at once"] = compared((), (), own, unseen, found["plain"])
    return found, chance


def compared(
    cosine: Numbers, turned: Numbers, own: Numbers, unseen: Iterable[NDArray], plain: Judged | None
) -> Judged:
    """What `gains` found on unseen batches, beside the plain rule's."""
    gain, cost, costliest, cheapest = unseen
    first = plain or Judged(cosine, turned, own, gain, (), cost, costliest, (), cheapest, ())
    return Judged(
        cosine, turned, own, gain, gain - first.others, cost, costliest, costliest - first.costliest,
        cheapest, cheapest - first.cheapest,
    )  # fmt: skip


def table(looks: Sequence[tuple[dict[str, Judged], list[float]]]) -> Table:
    """A row per rule: over the batches of a single policy, or over several policies."""

    def over(each: Sequence[Numbers], form: str) -> str:
        if not len(each[0]):
            return ""
        values = each[0] if len(each) == 1 else np.array([np.mean(one) for one in each])
        return mean(values, form)

    found = [rules for rules, _ in looks]
    listing = Table("rule", *(heading for heading, _ in COLUMNS))
    for name in found[0]:
        values = zip(*(rules[name] for rules in found), strict=True)
        cells = [over(each, form) for each, (_, form) in zip(values, COLUMNS, strict=True)]
        listing.add_row(name, *cells)
    chance = over([chance for _, chance in looks], ".1f")
    listing.caption = f"two batches turn the plain step by {chance}°"
    return listing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "runs", nargs="+", type=Path, help="folders of runs of trpo-pid or trpo-lagrangian"
    )
    parser.add_argument("--batches", type=int, default=8)
    options = parser.parse_args()
    compiling.prepare()
    looks = []
    for folder in options.runs:
        looks.append(judged(*looked_at(Run.open(folder), options.batches)))
        Console(width=240, stderr=True).print(folder.name, table(looks[-1:]))
    Console(width=240).print(table(looks))


if __name__ == "__main__":
    main()
