"""PPO-Lagrangian (Ray et al., 2019): PPO on (A_r − λA_c)/(1 + λ), with λ climbing while the cost exceeds its limit."""

from shapo.algorithms.search import PolicySearch
from shapo.rules.epochs import ClippedEpochs
from shapo.rules.gradients import Gradient, Plain
from shapo.rules.multipliers import Ascent
from shapo.rules.objectives import Lagrangian, as_limits


def ppo_lagrangian(
    *,
    cost_limit: float | tuple[float, ...],
    gradient: Gradient = Plain(),
    multiplier: Ascent = Ascent(),
    **clipped,
) -> PolicySearch:
    """PPO-Lagrangian; further keywords are those of `ClippedEpochs`."""
    return PolicySearch(
        Lagrangian(as_limits(cost_limit), multiplier), ClippedEpochs(gradient, **clipped)
    )
