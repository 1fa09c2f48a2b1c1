"""Many environments at once, with six values per step."""

from collections.abc import Callable, Iterable
from typing import Any

import gymnasium

from shapo.envs.gymnasium_out import BatchedEnv
from shapo.envs.safety_gymnasium import making
from shapo.envs.safety_gymnasium.vector.async_vector_env import SafetyAsyncVectorEnv
from shapo.envs.safety_gymnasium.vector.sync_vector_env import SafetySyncVectorEnv, SafetyVectorEnv

__all__ = ["SafetyAsyncVectorEnv", "SafetySyncVectorEnv", "SafetyVectorEnv", "make"]

Wrap = Callable[[gymnasium.Env], gymnasium.Env]


def make(
    env_id: str,
    num_envs: int = 1,
    asynchronous: bool = True,
    wrappers: Wrap | Iterable[Wrap] | None = None,
    disable_env_checker: bool | None = None,
    **options: Any,
) -> SafetyVectorEnv:
    """`num_envs` environments of one task, stepped in one call; with `wrappers` around each, one after the other.

    There are no processes, so `asynchronous` makes no difference.
    """
    if wrappers is None:
        return SafetyVectorEnv(BatchedEnv(making.task(env_id), num_envs, **making.kept(options)))
    layers = [wrappers] if callable(wrappers) else list(wrappers)

    def single() -> gymnasium.Env:
        env = making.make(env_id, **options)
        for layer in layers:
            env = layer(env)
        return env

    return SafetySyncVectorEnv([single] * num_envs)
