"""What is trained on: an environment, ready to be built in any process."""

from collections.abc import Callable
from dataclasses import dataclass

from shapo import envs
from shapo.envs.protocol import BatchEnv, Wrapper
from shapo.experiment import Experiment
from shapo.experiment.extensions import is_custom, parse, resolve

EnvFactory = Callable[..., BatchEnv]
"""Whatever `shapo.envs.make` accepts instead of an id."""


@dataclass(frozen=True)
class Task:
    """An environment as the experiment wants it."""

    experiment: Experiment
    factory: EnvFactory | None = None
    """The user's own environment; None: the one that `experiment.env` names."""
    wrapper: Wrapper | None = None
    """What the algorithm makes of it, where that is known already."""

    def build(self, num_envs: int, seed: int) -> BatchEnv:
        """`num_envs` environments, not yet reset; `reset(seed)` gives environment i the seed `seed + i`."""
        choice = self.experiment
        env = envs.make(self.factory or _named(choice.env), num_envs, seed)
        if env.num_costs != len(choice.cost_limit):
            raise ValueError(
                f"{choice.env} has {env.num_costs} cost signals but cost_limit is {choice.cost_limit}; "
                "give one limit per cost signal"
            )
        return self.wrapper(env) if self.wrapper else env


def _named(env: str) -> EnvFactory | str:
    """What `module:factory` stands for; an id, which may have a colon too, as it is."""
    if is_custom(env):
        raise ValueError(
            f"the environment was a Python object, {env}; only Python can pass it again"
        )
    name = parse(env)
    return resolve(name) if name else env
