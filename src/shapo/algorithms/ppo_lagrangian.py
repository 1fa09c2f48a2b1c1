"""PPO-Lagrangian (Ray et al., 2019): PPO on (A_r − λA_c)/(1 + λ), with λ climbing while the cost exceeds its limit."""

from dataclasses import replace
from typing import Any

from shapo.algorithms.ppo import ppo
from shapo.algorithms.search import PolicySearch
from shapo.rules.multipliers import Ascent
from shapo.rules.objectives import Lagrangian, as_limits


def ppo_lagrangian(
    *, cost_limit: float | tuple[float, ...], multiplier: Ascent = Ascent(), **base: Any
) -> PolicySearch:
    """PPO-Lagrangian; further keywords are those of `ppo`."""
    return replace(ppo(**base), objective=Lagrangian(as_limits(cost_limit), multiplier))
