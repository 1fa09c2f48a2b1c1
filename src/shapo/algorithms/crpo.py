"""Constraint-rectified policy optimisation (Xu et al., 2021): climb reward, or reduce cost while it is too high.

    A = A_r   if J_c ≤ limit + tolerance   else   −A_c

The paper's pseudo-code perturbs towards *lower* cost here if taken literally; like the release, we minimise every loss,
so the worst nearby policy is the one with *higher* cost.
"""

from shapo.algorithms.search import PolicySearch
from shapo.rules.gradients import Gradient, Plain
from shapo.rules.objectives import Switching, as_limits
from shapo.rules.schedules import Schedule
from shapo.rules.steps import FisherSolver, TrustRegion


def crpo(
    *,
    cost_limit: float | tuple[float, ...],
    tolerance: float | Schedule = 0.0,
    radius: float | Schedule = 0.02,
    gradient: Gradient = Plain(),
    solver: FisherSolver = FisherSolver(),
) -> PolicySearch:
    """CRPO; of several costs, the one furthest above its limit is reduced."""
    return PolicySearch(
        Switching(as_limits(cost_limit), tolerance), TrustRegion(radius, gradient, solver)
    )
