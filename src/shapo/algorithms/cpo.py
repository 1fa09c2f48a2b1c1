"""Constrained policy optimisation (Achiam et al., 2017): the best step that keeps the cost within its limit.

    minimise gᵀx   subject to   bᵀx + c ≤ 0,   ½ xᵀFx ≤ δ

with g and b the gradients of the reward and cost losses, and c = (J_c − limit) / (episode length): the surrogate that b
belongs to is a mean per step, so the excess must be one too. The minimum is one of three, in closed form:

- the constraint cannot be met in the trust region: reduce cost as fast as possible;
- the TRPO step meets it: take that;
- otherwise it lies on the constraint's plane.

A gradient estimated from a batch promises more than it keeps: part of b is noise, and along that part the cost falls in
this batch only. Two halves of the batch have noise of their own, so what they disagree about tells how much of a
promise is noise, and only the rest counts towards the constraint (`Products`).

SHAPO measures g and b each at its own worst policy nearby: the one of lowest reward, the one of highest cost.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jax import Array

from shapo.envs.protocol import Wrapper
from shapo.rules import trees
from shapo.rules.geometry import backtrack
from shapo.rules.gradients import Gradient, Metrics, Plain
from shapo.rules.networks import Policy
from shapo.rules.objectives import as_limits
from shapo.rules.schedules import Schedule, check_number, now
from shapo.rules.steps import FisherSolver, named
from shapo.rules.surrogates import Samples, policy_behaviour, surrogate
from shapo.types import Progress
from shapo.words import BadInput

RECOVERY, FREE, BOUND = 0, 1, 2
LEAST_KEPT = 0.01
"""Of a promise made along F⁻¹b at least so much counts, lest an estimate that is all noise has no direction at all."""
NOISE_TOLERANCE = 0.1
"""Relative residual of the solve for the noise: only its size is wanted."""


class Mixture(NamedTuple):
    """A step x = −(reward · F⁻¹g + cost · F⁻¹b)."""

    reward: Array
    cost: Array
    case: Array
    """RECOVERY, FREE or BOUND."""


def best_mixture(q: Array, r: Array, s: Array, excess: Array, radius: Array | float) -> Mixture:
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


class Products(NamedTuple):
    """Inner products of the two gradients in the metric F⁻¹, and what of them is not noise.

    With b₁ and b₂ the gradients of the two halves of a batch, b = (b₁ + b₂)/2 and e = (b₁ − b₂)/2, the promise
    bᵀF⁻¹b counts its own noise as progress. b₁ᵀF⁻¹b₂ does not, as the halves' noises have nothing in common:
    b₁ᵀF⁻¹b₂ = bᵀF⁻¹b − eᵀF⁻¹e. Likewise for gᵀF⁻¹b.
    """

    q: Array
    """gᵀF⁻¹g"""
    r: Array
    """gᵀF⁻¹b"""
    s: Array
    """bᵀF⁻¹b"""
    kept_r: Array
    """How much the true cost falls per unit of F⁻¹g."""
    kept_s: Array
    """How much the true cost falls per unit of F⁻¹b."""


def honest_mixture(products: Products, excess: Array, radius: Array | float) -> Mixture:
    """The best step x = −(a F⁻¹g + β F⁻¹b) whose *kept* promise, a·kept_r + β·kept_s, covers the excess.

    The trust region is ½ zᵀKz ≤ radius with z = (a, β) and K = [[q, r], [r, s]], the reward falls by (q, r)·z, and the
    cost by h·z with h = (kept_r, kept_s): again a linear aim and a linear constraint in an ellipse, so `best_mixture`
    answers it, with K⁻¹h in the place of F⁻¹b.
    """
    tiny = jnp.finfo(products.q.dtype).tiny
    q, r, s, kept_r, kept_s = products._replace(
        q=jnp.maximum(products.q, tiny), s=jnp.maximum(products.s, tiny)
    )
    kept_s = jnp.maximum(kept_s, LEAST_KEPT * s)
    area = jnp.maximum(q * s - r**2, jnp.finfo(q.dtype).eps * q * s)
    towards = (s * kept_r - r * kept_s) / area, (q * kept_s - r * kept_r) / area  # K⁻¹h
    reach = kept_r * towards[0] + kept_s * towards[1]
    found = best_mixture(q, kept_r, reach, excess, radius)
    hopeless = found.case == RECOVERY
    return Mixture(
        jnp.where(hopeless, 0.0, found.reward + found.cost * towards[0]),
        jnp.where(hopeless, jnp.sqrt(2 * radius / s), found.cost * towards[1]),
        found.case,
    )


class Subproblem(Protocol):
    """How the constrained step is posed and solved."""

    def per_step(self, excess: Array, progress: Progress) -> Array:
        """The excess of an episode's cost, in the unit of the cost loss."""
        ...

    def mixture(self, products: Products, excess: Array, radius: Array | float) -> Mixture:
        """How to combine the two natural gradients."""
        ...


@dataclass(frozen=True)
class Exact:
    """The excess per step, and the true optimum of what the batch can honestly promise."""

    def per_step(self, excess: Array, progress: Progress) -> Array:
        """Divided by the episode's length."""
        return excess / progress.episode_length

    def mixture(self, products: Products, excess: Array, radius: Array | float) -> Mixture:
        """`honest_mixture`."""
        return honest_mixture(products, excess, radius)


class Candidate(NamedTuple):
    """What the line search knows of a point."""

    reward_loss: Array
    cost_loss: Array
    kl: Array


@dataclass(frozen=True)
class Cpo:
    """CPO with a gradient rule for each of its two losses."""

    cost_limit: float
    radius: float | Schedule
    reward_gradient: Gradient = field(default_factory=Plain)
    cost_gradient: Gradient = field(default_factory=Plain)
    subproblem: Subproblem = field(default_factory=Exact)
    solver: FisherSolver = field(default_factory=FisherSolver)
    trials: int = 15
    environment: Wrapper | None = None

    def __post_init__(self):
        check_number(self.radius, "Cpo(radius={})", positive=True)

    def init(self, params: Policy) -> tuple[()]:
        """Nothing to remember."""
        return ()

    def update(
        self, params: Policy, state: tuple[()], samples: Samples, progress: Progress, key: Array
    ) -> tuple[Policy, tuple[()], Metrics]:
        """One constrained natural-gradient step."""
        radius, behaviour = now(self.radius, progress), policy_behaviour(samples.obs)
        reward_loss = surrogate(samples, samples.reward_advantage)
        cost_loss = surrogate(samples, -samples.cost_advantage[:, 0])
        metric = self.solver.metric(samples, params)
        reward = self.reward_gradient(reward_loss, params, metric, behaviour, progress)
        cost = self.cost_gradient(cost_loss, params, metric, behaviour, progress)
        natural_reward = metric.solve(reward.grads, reward.natural)
        natural_cost = metric.solve(cost.grads, cost.natural)

        (episode_cost,) = jnp.asarray(progress.episode_cost)
        excess = self.subproblem.per_step(episode_cost - self.cost_limit, progress)
        reward_noise, cost_noise = (
            jax.grad(surrogate(samples, samples.side * advantage))(params)
            for advantage in (samples.reward_advantage, -samples.cost_advantage[:, 0])
        )
        natural_noise = metric.solve(cost_noise, tolerance=NOISE_TOLERANCE)
        r, s = (trees.dot(each.grads, natural_cost.x) for each in (reward, cost))
        products = Products(
            trees.dot(reward.grads, natural_reward.x),
            r,
            s,
            r - trees.dot(reward_noise, natural_noise.x),
            s - trees.dot(cost_noise, natural_noise.x),
        )
        mixture = self.subproblem.mixture(products, excess, radius)
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
                & (found.kl <= radius)
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
            "policy/kept": products.kept_s / jnp.maximum(s, jnp.finfo(s.dtype).tiny),
        }
        found = named("gradient", reward.metrics) | named("gradient_cost", cost.metrics)
        return moved.params, state, metrics | found


def cpo(
    *,
    cost_limit: float | tuple[float, ...],
    radius: float | Schedule = 0.02,
    reward_gradient: Gradient = Plain(),
    cost_gradient: Gradient = Plain(),
    subproblem: Subproblem = Exact(),
    solver: FisherSolver = FisherSolver(),
) -> Cpo:
    """CPO. `subproblem=AsReleased()` reproduces published numbers; nothing else speaks for it."""
    limit, *more = as_limits(cost_limit)
    if more:
        raise BadInput(
            f"cpo(cost_limit={cost_limit!r}): CPO takes one cost; trpo_lagrangian, trpo_pid and crpo take several"
        )
    return Cpo(limit, radius, reward_gradient, cost_gradient, subproblem, solver)
