"""Projection-based constrained policy optimisation (Yang et al., 2020): a TRPO step, then back into the constraint set.

    θ½ = θ − U_F(g, δ)
    θ ← argmin ½ (x − θ½)ᵀL(x − θ½)   subject to   bᵀ(x − θ) + c ≤ 0

with g and b the gradients of the reward and cost losses, c = (J_c − limit) / (episode length), and L the Fisher matrix
(projection in KL) or the identity (in L2). SHAPO measures g and b each at its own worst policy nearby.
"""

from collections.abc import Callable

from shapo.algorithms.search import PolicySearch
from shapo.rules.geometry import Metric
from shapo.rules.gradients import Gradient, Plain
from shapo.rules.objectives import RewardOnly, one_limit
from shapo.rules.projections import Projected, in_kl
from shapo.rules.schedules import Schedule
from shapo.rules.steps import FisherSolver


def pcpo(
    *,
    cost_limit: float | tuple[float, ...],
    radius: float | Schedule = 0.02,
    projection: Callable[[Metric], Metric] = in_kl,
    reward_gradient: Gradient = Plain(),
    cost_gradient: Gradient = Plain(),
    solver: FisherSolver = FisherSolver(),
) -> PolicySearch:
    """PCPO; `projection` is `shapo.rules.projections.in_kl` or `in_l2`."""
    limit = one_limit(cost_limit, "pcpo")
    step = Projected(limit, radius, projection, reward_gradient, cost_gradient, solver)
    return PolicySearch(RewardOnly(), step)
