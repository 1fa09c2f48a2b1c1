"""Proximal policy optimisation (Schulman et al., 2017): climb reward in clipped minibatch steps.

    L = −E[min(ratio·A, clip(ratio, 1 ± ε)·A)],   θ ← θ − Adam(∇L)

With `gradient=Shapo(δ_down)` each ∇L is measured at the worst policy near the current one (the paper's Algorithm 4).
"""

from shapo.algorithms.search import PolicySearch
from shapo.rules.epochs import ClippedEpochs
from shapo.rules.gradients import Gradient, Plain
from shapo.rules.objectives import RewardOnly


def ppo(*, gradient: Gradient = Plain(), **clipped) -> PolicySearch:
    """PPO; further keywords are those of `ClippedEpochs`."""
    return PolicySearch(RewardOnly(), ClippedEpochs(gradient, **clipped))
