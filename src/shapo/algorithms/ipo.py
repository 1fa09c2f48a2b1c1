"""Interior-point policy optimisation (Liu et al., 2020): PPO with a logarithmic barrier before the limit.

    maximise J_r + log(limit − J_c) / t

The barrier's slope is −1 / (t · (limit − J_c)) times that of the cost: a Lagrangian whose multiplier has no memory,
λ = 1 / (t · (limit − J_c)). Beyond the limit, where the logarithm is not defined, λ stays at the most that it may be.
"""

from dataclasses import replace
from typing import Any

from shapo.algorithms.ppo import ppo
from shapo.algorithms.search import PolicySearch
from shapo.rules.multipliers import Barrier
from shapo.rules.objectives import Lagrangian, as_limits


def ipo(
    *, cost_limit: float | tuple[float, ...], barrier: Barrier = Barrier(), **base: Any
) -> PolicySearch:
    """IPO; further keywords are those of `ppo`."""
    return replace(ppo(**base), objective=Lagrangian(as_limits(cost_limit), barrier))
