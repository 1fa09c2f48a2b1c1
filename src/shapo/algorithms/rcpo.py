"""Reward-constrained policy optimisation (Tessler et al., 2018): a natural gradient with a multiplier.

    A = (A_r − λA_c) / (1 + λ),   λ ← max(0, λ + Adam(J_c − limit)),   θ ← θ + U_F(g, δ)

The paper is about λ on a slower time scale than the policy, whatever moves the policy; that it is the natural gradient
is OmniSafe's and SafePO's reading. So this is `trpo_lagrangian` without a line search: one composition, two names.
"""

from dataclasses import replace
from typing import Any

from shapo.algorithms.npg import npg
from shapo.algorithms.search import PolicySearch
from shapo.rules.multipliers import Ascent
from shapo.rules.objectives import Lagrangian, as_limits


def rcpo(
    *, cost_limit: float | tuple[float, ...], multiplier: Ascent = Ascent(), **base: Any
) -> PolicySearch:
    """RCPO; further keywords are those of `npg`."""
    return replace(npg(**base), objective=Lagrangian(as_limits(cost_limit), multiplier))
