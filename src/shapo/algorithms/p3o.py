"""Penalised proximal policy optimisation (Zhang et al., 2022): PPO with an exact penalty on cost above the limit.

    minimise L(θ) + κ · max(0, L_c(θ) + (J_c − limit) / (episode length))

with L and L_c the clipped surrogates of reward and cost. It needs no multiplier: above a finite κ the minimum is the
constrained one.
"""

from typing import Any

from shapo.algorithms.search import PolicySearch
from shapo.rules.epochs import Epochs
from shapo.rules.gradients import Gradient, Plain
from shapo.rules.losses import Penalised
from shapo.rules.objectives import RewardOnly, as_limits
from shapo.rules.schedules import Schedule


def p3o(
    *,
    cost_limit: float | tuple[float, ...],
    weight: float | Schedule = 20.0,
    gradient: Gradient = Plain(),
    clip: float | Schedule = 0.2,
    **epochs: Any,
) -> PolicySearch:
    """P3O; further keywords are those of `Epochs`."""
    loss = Penalised(as_limits(cost_limit), weight, clip)
    return PolicySearch(RewardOnly(), Epochs(gradient, loss=loss, **epochs))
