"""Single Gymnasium environments, of which a batch is made, and what their methods return."""

from collections.abc import Callable
from typing import Any

import gymnasium
from gymnasium.wrappers import TimeLimit

from shapo.words import BadInput, counted


def make_each(
    factory: Callable[[], gymnasium.Env], num_envs: int, id: str | None, made: list[gymnasium.Env]
) -> None:
    """Add `num_envs` environments to `made`, each another one; those made before one fails are there to be closed."""
    for _ in range(num_envs):
        env = factory()
        if env is None:
            raise BadInput(f"{id}: the factory returned no environment; does it end with return?")
        if not isinstance(env, gymnasium.Env):
            raise BadInput(f"{id}: what it makes, a {type(env).__name__}, is no gymnasium.Env")
        # Two wrappers around one environment are two names for it.
        if any(env.unwrapped is other.unwrapped for other in made):
            raise BadInput(
                f"{id or name_of(env)}: the factory returned the same environment twice; "
                "it must make a new one each time"
            )
        made.append(env)


def name_of(env: gymnasium.Env) -> str:
    """The id under which it is registered, else its class."""
    return env.spec.id if env.spec else type(env.unwrapped).__name__


def time_limit(env: gymnasium.Env) -> int | None:
    """Steps after which its episodes are truncated: the smallest `TimeLimit` around it, else what its spec says."""
    spec, limits = env.spec, []
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, TimeLimit):
            limits.append(env._max_episode_steps)
        env = env.env
    return min(limits, default=spec.max_episode_steps if spec else None)


def begun(id: str, returned: Any) -> Any:
    """The observation among the two values of a `reset`."""
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise BadInput(
            f"{id}: reset() must return two values, (observation, info), as Gymnasium's does"
        )
    return returned[0]


def stepped(id: str, returned: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
    """The five values of a `step`; a cost among six goes into the info."""
    values = returned if isinstance(returned, tuple | list) else (returned,)
    if len(values) == 6:
        obs, reward, cost, terminated, truncated, info = values
        return obs, reward, terminated, truncated, {**info, "cost": cost}
    if len(values) != 5:
        raise BadInput(
            f"{id}: step() returned {counted(len(values), 'value')}; Gymnasium's has five (obs, reward, terminated, "
            "truncated, info), Safety-Gymnasium's the cost as the third of six"
        )
    obs, reward, terminated, truncated, info = values
    return obs, reward, terminated, truncated, info
