"""Natural policy gradient (Kakade, 2001): climb reward along F⁻¹g, ignore cost, and do not look back.

    θ ← θ + √(2δ / gᵀF⁻¹g) F⁻¹g

TRPO without its line search; the length of the step is normalised, as in every later use of it.
"""

from shapo.algorithms.search import PolicySearch
from shapo.rules.gradients import Gradient, Plain
from shapo.rules.objectives import RewardOnly
from shapo.rules.schedules import Schedule
from shapo.rules.steps import FisherSolver, TrustRegion, Unsearched


def npg(
    *,
    radius: float | Schedule = 0.02,
    gradient: Gradient = Plain(),
    solver: FisherSolver = FisherSolver(),
) -> PolicySearch:
    """The natural policy gradient; `radius` is in nats of KL, summed over action dimensions."""
    return PolicySearch(RewardOnly(), TrustRegion(radius, gradient, solver, Unsearched()))
