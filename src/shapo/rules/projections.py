"""How far we go, PCPO's answer: the steepest step in a trust region, projected onto what the cost's limit allows.

x½ = −U_F(g, radius)
x = argmin ½ (x − x½)ᵀL(x − x½)  subject to  bᵀx + c ≤ 0
  = x½ − max(0, (bᵀx½ + c) / bᵀL⁻¹b) L⁻¹b

b is noisy, and what it promises, of bᵀx½ and of bᵀL⁻¹b, counts only as far as two halves of a batch agree about it
(`doubt`): taken at its word, a promise that is nine tenths noise makes the way back a tenth as long as it should be.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import jax.numpy as jnp
from jax import Array

from shapo.rules import trees
from shapo.rules.constrained import Products, go_carefully
from shapo.rules.doubt import Followed, Kept, evidence
from shapo.rules.geometry import Metric, euclidean, steepest
from shapo.rules.gradients import Gradient, Metrics, Plain, slope_by
from shapo.rules.networks import Policy
from shapo.rules.schedules import Schedule, check_numbers, now
from shapo.rules.solving import guess_of
from shapo.rules.steps import FisherSolver, named
from shapo.rules.surrogates import Samples, policy_behaviour, surrogate
from shapo.types import Progress


def in_kl(metric: Metric) -> Metric:
    """The nearest point is that of the most similar policy: L = F."""
    return metric


def in_l2(metric: Metric) -> Metric:
    """The nearest point is that of the most similar parameters: L = I."""
    return euclidean()


def way_back(cost: Array, per_unit: Array) -> Array:
    """How many units of −L⁻¹b lead from a point with linear cost bᵀx + c to the nearest where it is not above 0.

    `per_unit` is bᵀL⁻¹b, what one of them saves.
    """
    return jnp.maximum(cost, 0.0) / jnp.maximum(per_unit, jnp.finfo(per_unit.dtype).tiny)


@dataclass(frozen=True)
class Projected:
    """Climb within the trust region, go back to the nearest point within the limit, shorten to the trust region.

    The step is acceptable if its KL is within the radius, its cost rises by no more than the slack there is, and its
    loss falls, unless it had to be projected.
    """

    cost_limit: float
    radius: float | Schedule
    projection: Callable[[Metric], Metric] = in_kl
    """F ↦ L: in what sense a point is near."""
    gradient: Gradient = field(default_factory=Plain)
    cost_gradient: Gradient = field(default_factory=Plain)
    solver: FisherSolver = field(default_factory=FisherSolver)
    trials: int = 15

    def __post_init__(self):
        check_numbers(self, "radius", positive=True)

    def init(self, params: Policy) -> Kept:
        """Nothing is known of the noise."""
        return Kept.unknown()

    def update(
        self,
        params: Policy,
        state: Kept,
        samples: Samples,
        advantage: Array,
        progress: Progress,
        key: Array,
    ) -> tuple[Policy, Kept, Metrics]:
        """One projected step."""
        radius, behaviour = now(self.radius, progress), policy_behaviour(samples.obs)
        cost_advantage = -samples.cost_advantage[:, 0]
        loss, cost_loss = surrogate(samples, advantage), surrogate(samples, cost_advantage)
        metric = self.solver.metric(samples, params)
        nearness = self.projection(metric)
        slope = slope_by(self.gradient, loss, params, metric, behaviour, progress)
        cost = slope_by(self.cost_gradient, cost_loss, params, metric, behaviour, progress)
        descent = steepest(slope.grads, metric, radius, guess=slope.natural)
        back = nearness.solve(cost.grads, cost.natural)
        found = evidence(
            params,
            samples,
            Followed(advantage, slope, descent.natural),
            Followed(cost_advantage, cost, guess_of(cost.grads, back)),
            metric,
            None if nearness is metric else nearness,
        )
        q = trees.dot(slope.grads, descent.natural.x)
        r, s = trees.dot(cost.grads, descent.natural.x), trees.dot(cost.grads, back.x)
        state = state.seen(found)
        counted = state.counted(Products.believed(q, r, s), found)
        (episode_cost,) = jnp.asarray(progress.episode_cost)
        excess = (episode_cost - self.cost_limit) / progress.episode_length
        length = jnp.sqrt(2 * radius / jnp.maximum(q, jnp.finfo(q.dtype).tiny))
        units = way_back(excess - length * counted.kept_r, counted.kept_s)

        whole = trees.add(trees.scale(-1.0, descent.move), back.x, -units)
        squared = trees.dot(whole, metric.apply(whole))
        within = jnp.sqrt(2 * radius / jnp.maximum(squared, 2 * radius))
        moved = go_carefully(
            params, trees.scale(jnp.where(units > 0, within, 1.0), whole), (loss, cost_loss),
            (slope.value, cost.value), behaviour,
            radius=radius, excess=excess, may_lose=units > 0, trials=self.trials,
        )  # fmt: skip
        metrics = {
            "policy/kl": jnp.where(moved.fraction > 0, moved.found.kl, 0.0),
            "policy/fraction": moved.fraction,
            "policy/residual": descent.residual,
            "policy/cg_iterations": descent.iterations,
            "policy/excess": excess,
            "policy/projected": units,
            "policy/kept": counted.share,
        }
        metrics |= named("gradient", slope.metrics) | named("gradient_cost", cost.metrics)
        return moved.params, state, metrics
