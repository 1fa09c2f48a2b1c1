"""The published experiments."""

from typing import Any

from shapo.experiment import Experiment


def experiment(
    env: str = "SafetyPointGoal1-v0",
    algo: str = "trpo-pid",
    gradient: str = "plain",
    **overrides: Any,
) -> Experiment:
    """The published experiment for an environment and an algorithm; `overrides` have the last word."""
    return Experiment(env, algo, gradient, **overrides)
