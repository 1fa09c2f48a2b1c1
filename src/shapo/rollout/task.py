"""What is trained on: an environment, and Sauté's wrapper around it where the algorithm wants one."""

import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

from shapo import envs
from shapo.envs.protocol import BatchEnv
from shapo.envs.saute import Saute
from shapo.experiment import Experiment

EnvFactory = Callable[..., BatchEnv]
"""Whatever `shapo.envs.make` accepts instead of an id."""


def named_factory(name: str) -> EnvFactory | None:
    """What `module:attribute` stands for; None if `name` is an id instead, which may have a colon, too."""
    module, colon, attribute = name.partition(":")
    if not colon:
        return None
    look_here()
    try:
        return getattr(importlib.import_module(module), attribute, None)
    except ImportError as error:
        raise ValueError(f"environment {name}: cannot import {module} ({error})") from None


def look_here() -> None:
    """Find a user's own modules where the command is given; behind all else, so that none can pose as another."""
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)


@dataclass(frozen=True)
class Task:
    """An environment as the experiment wants it, ready to be built in any process."""

    experiment: Experiment
    factory: EnvFactory | None = None
    """The user's own environment; None: the one that `experiment.env` names."""

    def build(self, num_envs: int, seed: int) -> BatchEnv:
        """`num_envs` environments, not yet reset; `reset(seed)` gives environment i the seed `seed + i`."""
        choice = self.experiment
        env = envs.make(self.factory or named_factory(choice.env) or choice.env, num_envs, seed)
        if env.num_costs != len(choice.cost_limit):
            raise ValueError(
                f"{choice.env} has {env.num_costs} cost signals but cost_limit is {choice.cost_limit}; "
                "give one limit per cost signal"
            )
        if choice.algo in ("saute", "ppo-saute"):
            return Saute(env, choice.cost_limit, choice.saute_discount, choice.saute_unsafe_reward)
        return env
