"""Trust region policy optimisation (Schulman et al., 2015): climb reward, ignore cost.

    θ ← θ + U_F(g, δ),   U_F(g, δ) = √(2δ / gᵀF⁻¹g) F⁻¹g

With `gradient=Shapo(δ_down)`, g is measured at θ − U_F(g, δ_down) instead: the worst policy nearby.
"""

from shapo.algorithms.search import PolicySearch
from shapo.rules.gradients import Gradient, Plain
from shapo.rules.objectives import RewardOnly
from shapo.rules.schedules import Schedule
from shapo.rules.steps import FisherSolver, TrustRegion


def trpo(
    *,
    radius: float | Schedule = 0.02,
    gradient: Gradient = Plain(),
    solver: FisherSolver = FisherSolver(),
) -> PolicySearch:
    """TRPO. `radius` is a true KL in nats: published code's 0.01 times the number of action dimensions."""
    return PolicySearch(RewardOnly(), TrustRegion(radius, gradient, solver))
