"""Constrained update projection (Yang et al., 2022): PPO on reward, then back to where the cost is not too high.

    θ½ ← PPO(θ, A_r)
    θ ← argmin E_s[KL(π_θ½‖π_θ)] + ν (1 − γλ)/(1 − γ) E[ratio · A_c]

with ν ← ν + rate · (J_c − limit), kept within 0 and its bound, γ the discount and λ that of advantage estimation. The
second step is shortened to a KL of 0.1. SHAPO measures each of the two slopes at its own worst policy nearby.
"""

from dataclasses import replace
from typing import Any

from shapo.algorithms.ppo import ppo
from shapo.algorithms.search import PolicySearch
from shapo.rules.corrections import Corrected
from shapo.rules.epochs import Epochs
from shapo.rules.losses import Anchored
from shapo.rules.multipliers import Bounded
from shapo.rules.objectives import as_limits
from shapo.words import BadInput


def cup(
    *,
    cost_limit: float | tuple[float, ...],
    multiplier: Bounded = Bounded(rate=0.001),
    discount: float = 0.99,
    gae: float = 0.95,
    epochs: int = 10,
    **base: Any,
) -> PolicySearch:
    """CUP; `epochs` are those of each of the two steps, further keywords those of `ppo`."""
    if not discount < 1:
        raise BadInput(f"cup(discount={discount!r}): it must be below 1, CUP divides by 1 − γ")
    climb = ppo(epochs=epochs, **base)
    assert isinstance(climb.step, Epochs)
    correct = replace(climb.step, loss=Anchored())
    weight = (1 - discount * gae) / (1 - discount)
    limits = as_limits(cost_limit)
    return replace(climb, step=Corrected(climb.step, correct, limits, multiplier, weight))
