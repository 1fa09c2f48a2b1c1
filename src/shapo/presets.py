"""The published hyper-parameters, per environment and algorithm. docs/fidelity.md says where each comes from."""

import re
from typing import Any

from shapo.experiment import Experiment

NAVIGATION = re.compile(
    r"(?:shapo/)?(?:Safety|Safexp-)?(?P<robot>Point|Car)(?P<aim>Goal|Button|Push|Circle)[012]-v0"
)
VELOCITY = re.compile(r"(?:shapo/)?Safety\w+Velocity-v[01]")
LOCOMOTION = re.compile(r"(?:shapo/)?(?:Ant|Walker2d|HalfCheetah|Hopper|Humanoid|Swimmer)-v\d")


def experiment(
    env: str = "SafetyPointGoal1-v0",
    algo: str = "trpo-pid",
    gradient: str = "plain",
    **overrides: Any,
) -> Experiment:
    """The published experiment for an environment and an algorithm; `overrides` have the last word."""
    choices: dict[str, Any] = {"env": env, "algo": algo, "gradient": gradient}
    choices |= _of_environment(env)
    choices |= _of_algorithm(algo, env)
    if gradient == "shapo":
        # The paper's SHAPO is both: a pessimistic actor and sharpness-aware critics.
        choices["critic_gradient"] = "sam"
    found = Experiment(**(choices | overrides))
    found.check()
    return found


def _of_environment(env: str) -> dict[str, Any]:
    if NAVIGATION.fullmatch(env):
        return {"steps": 10_000_000, "cost_limit": (10.0,)}
    if VELOCITY.fullmatch(env):
        return {"steps": 10_000_000, "cost_limit": (25.0,)}
    if LOCOMOTION.fullmatch(env):
        return {"steps": 5_000_000, "cost_limit": (0.0,)}
    return {}


def _of_algorithm(algo: str, env: str) -> dict[str, Any]:
    choices: dict[str, Any] = {}
    if algo in ("ppo", "ppo-lagrangian", "ppo-saute"):
        choices |= {"critic_rate": 3e-4, "critic_minibatch": 64}
    if algo in ("saute", "ppo-saute"):
        task = NAVIGATION.fullmatch(env)
        if task and task["aim"] in ("Goal", "Circle"):
            choices |= {"saute_discount": 0.9999, "saute_unsafe_reward": -0.2}
            if algo == "ppo-saute":
                choices["ppo_epochs"] = 80
    return choices
