"""The published numbers, per environment, algorithm and gradient rule. docs/fidelity.md says where each comes from."""

from typing import Any

from shapo.experiment.algos import BOUNDED, EPOCHS, SAUTE
from shapo.experiment.names import IDS, Family, Id

_ANYWHERE: dict[str, Any] = {
    "steps": 10_000_000,
    "cost_limit": (10.0,),
    "critic_gradient": "plain",
    "critic_rate": 1e-3,
    "critic_minibatch": 128,
    "ppo_epochs": 40,
    "multiplier_rate": 0.035,
    "multiplier_max": 2.0,
    "saute_discount": 0.999,
    "saute_unsafe_reward": -1.0,
}
"""Where nothing else was published."""
_OF_FAMILY: dict[Family, dict[str, Any]] = {
    "navigation": {"steps": 10_000_000, "cost_limit": (10.0,)},
    "velocity": {"steps": 10_000_000, "cost_limit": (25.0,)},
    "fall": {"steps": 5_000_000, "cost_limit": (0.0,)},
}


def published(env: str, algo: str, gradient: str) -> dict[str, Any]:
    """The choices that are not the same for every environment, algorithm and gradient rule."""
    found = dict(_ANYWHERE)
    if env in IDS:
        found |= _OF_FAMILY[IDS[env].family]
    if algo in EPOCHS:
        found |= {"critic_rate": 3e-4, "critic_minibatch": 64}
    if algo in BOUNDED:
        found |= {"multiplier_rate": 0.01, "ppo_epochs": 10}
    if algo == "cup":
        found["multiplier_rate"] = 0.001  # not published: 0.01 throws its ν from end to end
    if algo == "ipo":
        found["multiplier_max"] = 10.0
    if algo in SAUTE and _tuned_apart(IDS.get(env)):
        found |= {"saute_discount": 0.9999, "saute_unsafe_reward": -0.2}
        found |= {"ppo_epochs": 80} if algo == "ppo-saute" else {}
    if gradient == "shapo":
        # The paper's SHAPO is both: a pessimistic actor and sharpness-aware critics.
        found["critic_gradient"] = "sam"
    return found


def _tuned_apart(id: Id | None) -> bool:
    """Whether Sauté has numbers of its own on this task."""
    return id is not None and id.family == "navigation" and id.aim in ("Goal", "Circle")
