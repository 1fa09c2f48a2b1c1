"""What a caller may hand an environment; all else is refused in one line that names the culprit."""

import math
from collections.abc import Mapping

import gymnasium
import numpy as np
from numpy.typing import NDArray

from shapo.words import BadInput

Actions = gymnasium.spaces.Box | gymnasium.spaces.Discrete


def checked_action(env_id: str, num_envs: int, space: Actions, action: NDArray) -> NDArray:
    """`action` as float64 [n, act], or int64 [n] where actions are discrete; else ValueError."""
    action = np.asarray(action)
    shape = (num_envs, *(space.shape or ()))
    if action.shape != shape:
        raise BadInput(f"{env_id}: actions must have shape {shape}, got {action.shape}")
    if isinstance(space, gymnasium.spaces.Discrete):
        return _checked_choices(env_id, space, action)
    action = action.astype(np.float64, copy=False)
    # One product tells whether to look closer; checking every number costs more than all else here.
    if not math.isfinite(np.vdot(action, action)) and not np.isfinite(action).all():
        env, k = np.argwhere(~np.isfinite(action))[0]
        raise BadInput(
            f"{env_id}: the action of environment {env} is not finite (its number {k} is {action[env, k]}); "
            "has the policy diverged?"
        )
    return action


def _checked_choices(env_id: str, space: gymnasium.spaces.Discrete, action: NDArray) -> NDArray:
    if not np.issubdtype(action.dtype, np.integer):
        raise BadInput(f"{env_id}: actions are choices, integers, not {action.dtype}")
    wrong = np.flatnonzero((action < space.start) | (action >= space.start + space.n))
    if len(wrong):
        last, env = space.start + space.n - 1, wrong[0]
        raise BadInput(
            f"{env_id}: actions go from {space.start} to {last}, that of environment {env} is {action[env]}"
        )
    return action.astype(np.int64, copy=False)


def checked_state(
    env_id: str, num_envs: int, state: Mapping[str, NDArray], names: tuple[str, ...]
) -> None:
    """ValueError unless `state` has every one of `names`, with a row for each environment."""
    for name in names:
        if name not in state:
            raise BadInput(f"{env_id}: the state lacks {name!r}; was it saved from this task?")
        rows = len(state[name])
        if rows != num_envs:
            raise BadInput(f"{env_id}: the state holds {rows} environments, this batch {num_envs}")
