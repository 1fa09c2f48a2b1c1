"""First-order constrained optimisation in policy space (Zhang et al., 2020): imitate the best policy nearby.

    π*(a|s) ∝ π₀(a|s) exp((A_r − νA_c) / λ),   θ ← argmin E_s[KL(π_θ‖π*)] where KL(π_θ‖π₀)[s] ≤ δ

with ν ← ν + rate · (J_c − limit), kept within 0 and its bound.
"""

from typing import Any

from shapo.algorithms.search import PolicySearch
from shapo.rules.epochs import Epochs
from shapo.rules.gradients import Gradient, Plain
from shapo.rules.losses import FirstOrder
from shapo.rules.multipliers import Bounded
from shapo.rules.objectives import Lagrangian, Unscaled, as_limits
from shapo.rules.schedules import Schedule


def focops(
    *,
    cost_limit: float | tuple[float, ...],
    multiplier: Bounded = Bounded(),
    temperature: float = 1.5,
    gradient: Gradient = Plain(),
    epochs: int = 10,
    stop_kl: float | Schedule = 0.02,
    **others: Any,
) -> PolicySearch:
    """FOCOPS; `stop_kl` is its δ, in each state and over all of them; further keywords are those of `Epochs`."""
    loss = FirstOrder(temperature, stop_kl)
    return PolicySearch(
        Unscaled(Lagrangian(as_limits(cost_limit), multiplier)),
        Epochs(gradient, loss=loss, epochs=epochs, stop_kl=stop_kl, **others),
    )
