"""Proximal policy optimisation (Schulman et al., 2017): climb reward in clipped minibatch steps.

    L = −E[min(ratio·A, clip(ratio, 1 ± ε)·A)],   θ ← θ − Adam(∇L)

With `gradient=Shapo(δ_down)` each ∇L is measured at the worst policy near the current one (the paper's Algorithm 4).
"""

from typing import Any

from shapo.algorithms.search import PolicySearch
from shapo.rules.epochs import Epochs
from shapo.rules.gradients import Gradient, Plain
from shapo.rules.losses import Clipped
from shapo.rules.objectives import RewardOnly
from shapo.rules.schedules import Schedule


def ppo(
    *, gradient: Gradient = Plain(), clip: float | Schedule = 0.2, **epochs: Any
) -> PolicySearch:
    """PPO; further keywords are those of `Epochs`."""
    return PolicySearch(RewardOnly(), Epochs(gradient, loss=Clipped(clip), **epochs))
