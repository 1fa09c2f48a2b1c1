"""Constrained policy optimisation (Achiam et al., 2017): the best step that keeps the cost within its limit.

    minimise gᵀx   subject to   bᵀx + c ≤ 0,   ½ xᵀFx ≤ δ

with g and b the gradients of the reward and cost losses, and c = (J_c − limit) / (episode length): the surrogate that b
belongs to is a mean per step, so the excess must be one too. The minimum is one of three, in closed form:

- the constraint cannot be met in the trust region: reduce cost as fast as possible;
- the TRPO step meets it: take that;
- otherwise it lies on the constraint's plane.

A gradient estimated from a batch promises more than it keeps: part of b is noise, and along that part the cost falls in
this batch only. Two halves of the batch have noise of their own, so what they disagree about tells how much of a
promise is noise, and only the rest counts towards the constraint (`Products`, `Kept`). The cost that is compared with
the limit is noisy, too, and is therefore aimed a little below it (`Margin`).

SHAPO measures g and b each at its own worst policy nearby: the one of lowest reward, the one of highest cost.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import jax.numpy as jnp
from jax import Array

from shapo.envs.protocol import Wrapper
from shapo.rules import trees
from shapo.rules.constrained import Mixture, Products, go_carefully, honest_mixture
from shapo.rules.doubt import Evidence, Followed, Known, evidence
from shapo.rules.gradients import Gradient, Metrics, Plain, slope_by
from shapo.rules.networks import Policy
from shapo.rules.objectives import one_limit
from shapo.rules.schedules import Schedule, check_numbers, now
from shapo.rules.solving import guess_of
from shapo.rules.steps import FisherSolver, named
from shapo.rules.surrogates import Samples, policy_behaviour, surrogate
from shapo.types import Progress


class Answer(NamedTuple):
    """The step that a subproblem found."""

    mixture: Mixture
    excess: Array
    """How far the cost is above where it is aimed, in the unit of the cost loss."""
    may_lose: Array
    """Whether reward may be given up: to bring the cost down has its price."""
    metrics: Metrics


class Subproblem(Protocol):
    """How the constrained step is posed and solved."""

    def init(self) -> Any:
        """What it remembers before the first batch."""
        ...

    def solve(
        self,
        state: Any,
        products: Products,
        found: Evidence,
        progress: Progress,
        limit: float,
        radius: Array | float,
    ) -> tuple[Any, Answer]:
        """How to combine the two natural gradients, whose `products` are taken at their word."""
        ...


@dataclass(frozen=True)
class Exact:
    """The excess per step, and the true optimum of what can honestly be promised."""

    def init(self) -> Known:
        """Nothing is known."""
        return Known.nothing()

    def solve(
        self,
        state: Known,
        products: Products,
        found: Evidence,
        progress: Progress,
        limit: float,
        radius: Array | float,
    ) -> tuple[Known, Answer]:
        """`honest_mixture`."""
        state = state.seen(found, progress, limit)
        excess = state.excess(progress, limit)
        counted = state.kept.counted(products, found)
        mixture = honest_mixture(counted, excess, radius)
        return state, Answer(mixture, excess, excess > 0, state.metrics(counted, limit))


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
        check_numbers(self, "radius", positive=True)

    def init(self, params: Policy) -> Any:
        """What the subproblem remembers."""
        return self.subproblem.init()

    def update(
        self, params: Policy, state: Any, samples: Samples, progress: Progress, key: Array
    ) -> tuple[Policy, Any, Metrics]:
        """One constrained natural-gradient step."""
        radius, behaviour = now(self.radius, progress), policy_behaviour(samples.obs)
        reward_loss = surrogate(samples, samples.reward_advantage)
        cost_loss = surrogate(samples, -samples.cost_advantage[:, 0])
        metric = self.solver.metric(samples, params)
        reward = slope_by(self.reward_gradient, reward_loss, params, metric, behaviour, progress)
        cost = slope_by(self.cost_gradient, cost_loss, params, metric, behaviour, progress)
        natural_reward = metric.solve(reward.grads, reward.natural)
        natural_cost = metric.solve(cost.grads, cost.natural)

        found = evidence(
            params,
            samples,
            Followed(samples.reward_advantage, reward, guess_of(reward.grads, natural_reward)),
            Followed(-samples.cost_advantage[:, 0], cost, guess_of(cost.grads, natural_cost)),
            metric,
        )
        q = trees.dot(reward.grads, natural_reward.x)
        r, s = (trees.dot(each.grads, natural_cost.x) for each in (reward, cost))
        state, (mixture, excess, may_lose, about) = self.subproblem.solve(
            state, Products.believed(q, r, s), found, progress, self.cost_limit, radius
        )
        x = trees.add(trees.scale(-mixture.reward, natural_reward.x), natural_cost.x, -mixture.cost)

        moved = go_carefully(
            params, x, (reward_loss, cost_loss), (reward.value, cost.value), behaviour,
            radius=radius, excess=excess, may_lose=may_lose, trials=self.trials,
        )  # fmt: skip
        metrics = {
            "policy/kl": jnp.where(moved.fraction > 0, moved.found.kl, 0.0),
            "policy/fraction": moved.fraction,
            "policy/residual": trees.norm(natural_reward.residual)
            / (trees.norm(reward.grads) + 1e-30),
            "policy/cg_iterations": natural_reward.iterations,
            "policy/case": mixture.case,
            "policy/excess": excess,
        }
        metrics |= named("policy", about)
        metrics |= named("gradient", reward.metrics) | named("gradient_cost", cost.metrics)
        return moved.params, state, metrics


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
    limit = one_limit(cost_limit, "cpo")
    return Cpo(limit, radius, reward_gradient, cost_gradient, subproblem, solver)
