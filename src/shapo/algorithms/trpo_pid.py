"""PID-Lagrangian (Stooke et al., 2020) on TRPO: the paper's main base.

TRPO on (A_r − λA_c)/(1 + λ), with λ from a PID controller of the cost: it reacts to how far the cost is above its
limit, for how long, and how fast it rises. Differs from the authors' release in that the integral and λ are simply
clamped at 0 (as in SafePO and OmniSafe) and that the first update already sees the first batch's cost.
"""

from shapo.algorithms.search import PolicySearch
from shapo.rules.gradients import Gradient, Plain
from shapo.rules.multipliers import Pid
from shapo.rules.objectives import Lagrangian, as_limits
from shapo.rules.schedules import Schedule
from shapo.rules.steps import FisherSolver, TrustRegion


def trpo_pid(
    *,
    cost_limit: float | tuple[float, ...],
    radius: float | Schedule = 0.02,
    gradient: Gradient = Plain(),
    pid: Pid = Pid(),
    solver: FisherSolver = FisherSolver(),
) -> PolicySearch:
    """PID-Lagrangian; several costs take a tuple of limits."""
    return PolicySearch(
        Lagrangian(as_limits(cost_limit), pid), TrustRegion(radius, gradient, solver)
    )
