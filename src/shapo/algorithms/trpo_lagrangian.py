"""TRPO-Lagrangian: TRPO on (A_r − λA_c)/(1 + λ), with λ climbing while the cost exceeds its limit.

λ ← max(0, λ + Adam(J_c − limit))
"""

from shapo.algorithms.search import PolicySearch
from shapo.rules.gradients import Gradient, Plain
from shapo.rules.multipliers import Ascent
from shapo.rules.objectives import Lagrangian, as_limits
from shapo.rules.schedules import Schedule
from shapo.rules.steps import FisherSolver, TrustRegion


def trpo_lagrangian(
    *,
    cost_limit: float | tuple[float, ...],
    radius: float | Schedule = 0.02,
    gradient: Gradient = Plain(),
    multiplier: Ascent = Ascent(),
    solver: FisherSolver = FisherSolver(),
) -> PolicySearch:
    """TRPO-Lagrangian; several costs take a tuple of limits."""
    return PolicySearch(
        Lagrangian(as_limits(cost_limit), multiplier), TrustRegion(radius, gradient, solver)
    )
