"""What is trained on: an environment, ready to be built in any process."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from shapo import envs
from shapo.envs.closing import closed_if_refused
from shapo.envs.protocol import BatchEnv, Remark, Wrapper
from shapo.experiment import Experiment
from shapo.experiment.algos import IGNORES_COST
from shapo.experiment.extensions import is_custom, load, parse, require_named
from shapo.words import BadInput, counted

EnvFactory = Callable[..., BatchEnv]
"""Whatever `shapo.envs.make` accepts instead of an id."""


@dataclass(frozen=True)
class Blueprint:
    """An environment as the experiment wants it."""

    experiment: Experiment
    factory: EnvFactory | None = None
    """The user's own environment; None: the one that `experiment.env` names."""
    wrapper: Wrapper | None = None
    """What the algorithm makes of it, where that is known already."""

    def build(self, num_envs: int, seed: int, **options: Any) -> BatchEnv:
        """`num_envs` environments, not yet reset; `reset(seed)` gives environment i the seed `seed + i`.

        `options` go to `shapo.envs.make`.
        """
        choice = self.experiment
        env = self._make(num_envs, seed, options)
        with closed_if_refused(env):
            if env.num_costs != len(choice.cost_limit):
                raise BadInput(
                    f"{choice.env} has {counted(env.num_costs, 'cost signal')}, and cost_limit names "
                    f"{counted(len(choice.cost_limit), 'limit')}: "
                    f"{', '.join(map('{:g}'.format, choice.cost_limit))}; give one for each"
                )
            return self.wrapper(env) if self.wrapper else env

    def build_to_draw(self, seed: int) -> BatchEnv:
        """A single one, for its pictures."""
        return self.build(1, seed, **envs.to_draw(self._source()))

    def _source(self) -> EnvFactory | str:
        return self.factory or _named(self.experiment.env)

    def _make(self, num_envs: int, seed: int, options: dict[str, Any]) -> BatchEnv:
        choice, source = self.experiment, self._source()
        if choice.cost != "own":
            if not envs.takes_cost(source):
                raise BadInput(
                    f"{choice.env} has its own cost; another is for Gymnasium environments and factories of single ones"
                )
            return envs.make(source, num_envs, seed, cost=load(choice.cost), **options)
        try:
            return envs.make(source, num_envs, seed, **options)
        except envs.NoCost:
            if choice.algo not in IGNORES_COST or not envs.takes_cost(source):
                raise
        env = envs.make(source, num_envs, seed, cost=envs.free, **options)
        warnings.warn(
            f"{env.id} says nothing about cost; every step counts as free", Remark, stacklevel=2
        )
        return env


def _named(env: str) -> EnvFactory | str:
    """What `module:factory` stands for; an id, which may have a colon too, as it is."""
    if is_custom(env):
        raise BadInput(f"the environment was a Python object, {env}; only Python can pass it again")
    require_named({"env": env})
    return load(env) if parse(env) else env
