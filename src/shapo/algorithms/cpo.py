"""Constrained policy optimisation (Achiam et al., 2017): the best step that keeps the cost within its limit.

    minimise gᵀx   subject to   bᵀx + c ≤ 0,   ½ xᵀFx ≤ δ

with g and b the gradients of the reward and cost losses, and c = (J_c − limit) / (episode length): the surrogate that b
belongs to is a mean per step, so the excess must be one too. The minimum is one of three, in closed form:

- the constraint cannot be met in the trust region: reduce cost as fast as possible;
- the TRPO step meets it: take that;
- otherwise it lies on the constraint's plane.

A gradient estimated from a batch promises more than it keeps: part of b is noise, and the linearised cost falls along
the noise too. So the step aims at limit − margin, where the margin grows while the limit is exceeded and shrinks while
it is not. What is aimed at is a cost, so the margin never exceeds the limit: beyond that it could only wind up.

SHAPO measures g and b each at its own worst policy nearby: the one of lowest reward, the one of highest cost.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import jax.numpy as jnp
from jax import Array

from shapo.rules import trees
from shapo.rules.geometry import backtrack
from shapo.rules.gradients import Gradient, Metrics, Plain
from shapo.rules.networks import Policy
from shapo.rules.objectives import as_limits
from shapo.rules.steps import FisherSolver, check_positive, named
from shapo.rules.surrogates import Samples, policy_behaviour, surrogate
from shapo.types import Progress

RECOVERY, FREE, BOUND = 0, 1, 2


class Mixture(NamedTuple):
    """A step x = −(reward · F⁻¹g + cost · F⁻¹b)."""

    reward: Array
    cost: Array
    case: Array
    """RECOVERY, FREE or BOUND."""


def best_mixture(q: Array, r: Array, s: Array, excess: Array, radius: float) -> Mixture:
    """The minimum of gᵀx over bᵀx + excess ≤ 0 and ½ xᵀFx ≤ radius, from q = gᵀF⁻¹g, r = gᵀF⁻¹b, s = bᵀF⁻¹b.

    In the plane bᵀx = −c, x = −(c/s) F⁻¹b + y with bᵀy = 0, where y is the steepest descent that the rest of the
    trust region, δ − c²/2s, allows.
    """
    tiny = jnp.finfo(q.dtype).tiny
    q, s = jnp.maximum(q, tiny), jnp.maximum(s, tiny)
    free = jnp.sqrt(2 * radius / q)
    meets = excess - free * r <= 0  # bᵀx + c at the TRPO step
    room = 2 * radius - excess**2 / s
    across = jnp.maximum(q - r**2 / s, tiny)  # gᵀF⁻¹g within the plane
    along = jnp.sqrt(jnp.maximum(room, 0.0) / across)
    hopeless = (excess > 0) & (room < 0)
    zero = jnp.zeros_like(q)
    case = jnp.select([hopeless, meets], [RECOVERY, FREE], BOUND)
    return Mixture(
        reward=jnp.select([hopeless, meets], [zero, free], along),
        cost=jnp.select(
            [hopeless, meets], [jnp.sqrt(2 * radius / s), zero], excess / s - along * r / s
        ),
        case=case,
    )


class Subproblem(Protocol):
    """How the constrained step is posed and solved."""

    def per_step(self, excess: Array, progress: Progress) -> Array:
        """The excess of an episode's cost, in the unit of the cost loss."""
        ...

    def mixture(self, q: Array, r: Array, s: Array, excess: Array, radius: float) -> Mixture:
        """How to combine the two natural gradients."""
        ...


@dataclass(frozen=True)
class Exact:
    """The excess per step, and the true optimum."""

    def per_step(self, excess: Array, progress: Progress) -> Array:
        """Divided by the episode's length."""
        return excess / progress.episode_length

    def mixture(self, q: Array, r: Array, s: Array, excess: Array, radius: float) -> Mixture:
        """`best_mixture`."""
        return best_mixture(q, r, s, excess, radius)


class Candidate(NamedTuple):
    """What the line search knows of a point."""

    reward_loss: Array
    cost_loss: Array
    kl: Array


@dataclass(frozen=True)
class Cpo:
    """CPO with a gradient rule for each of its two losses."""

    cost_limit: float
    radius: float
    reward_gradient: Gradient = field(default_factory=Plain)
    cost_gradient: Gradient = field(default_factory=Plain)
    subproblem: Subproblem = field(default_factory=Exact)
    solver: FisherSolver = field(default_factory=FisherSolver)
    trials: int = 15
    margin_rate: float = 0.05
    """How fast the margin grows with the excess, both in cost per episode."""

    def __post_init__(self):
        check_positive(self.radius, "Cpo(radius={})")

    def init(self, params: Policy) -> Array:
        """The margin."""
        return jnp.zeros(())

    def update(
        self, params: Policy, state: Array, samples: Samples, progress: Progress, key: Array
    ) -> tuple[Policy, Array, Metrics]:
        """One constrained natural-gradient step."""
        behaviour = policy_behaviour(samples.obs)
        reward_loss = surrogate(samples, samples.reward_advantage)
        cost_loss = surrogate(samples, -samples.cost_advantage[:, 0])
        metric = self.solver.metric(samples, params)
        reward = self.reward_gradient(reward_loss, params, metric, behaviour, progress)
        cost = self.cost_gradient(cost_loss, params, metric, behaviour, progress)
        natural_reward = metric.solve(reward.grads, reward.natural)
        natural_cost = metric.solve(cost.grads, cost.natural)

        (episode_cost,) = jnp.asarray(progress.episode_cost)
        over = episode_cost - self.cost_limit
        margin = jnp.clip(state + self.margin_rate * over, 0.0, self.cost_limit)
        excess = self.subproblem.per_step(over + margin, progress)
        q = trees.dot(reward.grads, natural_reward.x)
        r = trees.dot(reward.grads, natural_cost.x)
        s = trees.dot(cost.grads, natural_cost.x)
        mixture = self.subproblem.mixture(q, r, s, excess, self.radius)
        x = trees.add(trees.scale(-mixture.reward, natural_reward.x), natural_cost.x, -mixture.cost)

        here = behaviour.outputs(params)
        moved = backtrack(
            params,
            x,
            evaluate=lambda p: Candidate(
                reward_loss(p), cost_loss(p), behaviour.divergence(here, behaviour.outputs(p))
            ),
            # A recovery step may sacrifice reward; the cost may rise by no more than the slack there is.
            accept=lambda found: (
                ((found.reward_loss <= reward.value) | (excess > 0))
                & (found.cost_loss - cost.value <= jnp.maximum(-excess, 0.0))
                & (found.kl <= self.radius)
            ),
            trials=self.trials,
        )
        metrics = {
            "policy/kl": jnp.where(moved.fraction > 0, moved.found.kl, 0.0),
            "policy/fraction": moved.fraction,
            "policy/residual": trees.norm(natural_reward.residual)
            / (trees.norm(reward.grads) + 1e-30),
            "policy/cg_iterations": natural_reward.iterations,
            "policy/case": mixture.case,
            "policy/excess": excess,
            "policy/margin": margin,
        }
        found = named("gradient", reward.metrics) | named("gradient_cost", cost.metrics)
        return moved.params, margin, metrics | found


def cpo(
    *,
    cost_limit: float | tuple[float, ...],
    radius: float = 0.02,
    reward_gradient: Gradient = Plain(),
    cost_gradient: Gradient = Plain(),
    subproblem: Subproblem = Exact(),
    margin_rate: float = 0.05,
    solver: FisherSolver = FisherSolver(),
) -> Cpo:
    """CPO. `subproblem=AsReleased(), margin_rate=0.0` reproduces published numbers; nothing else speaks for it."""
    limit, *more = as_limits(cost_limit)
    if more:
        raise ValueError(
            f"cpo(cost_limit={cost_limit!r}): CPO takes one cost; trpo_lagrangian, trpo_pid and crpo take several"
        )
    return Cpo(
        limit, radius, reward_gradient, cost_gradient, subproblem, solver, margin_rate=margin_rate
    )
