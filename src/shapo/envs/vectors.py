"""Observations and actions of any shape as vectors, and an action's vector as its environment wants it."""

import warnings
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces.utils import flatten_space
from numpy.typing import NDArray

from shapo.envs.protocol import Remark
from shapo.words import BadInput


def observation_vectors(id: str, space: gymnasium.Space) -> gymnasium.spaces.Box:
    """The space of the observations as vectors."""
    flat = flatten_space(space)
    if not isinstance(flat, gymnasium.spaces.Box):
        raise BadInput(f"{id}: cannot make a vector of its observations, {flat}")
    if _has_pictures(space):
        warnings.warn(
            f"{id}: pictures among its observations are taken as vectors, {flat.shape[0]:,} numbers in all; policies "
            "are small tanh networks, so have it observe features instead",
            Remark,
            stacklevel=2,
        )
    low, high = flat.low.astype(np.float64), flat.high.astype(np.float64)
    return gymnasium.spaces.Box(low, high, dtype=np.float64)


def _has_pictures(space: gymnasium.Space) -> bool:
    match space:
        case gymnasium.spaces.Box():
            return space.dtype == np.uint8 and len(space.shape) == 3
        case gymnasium.spaces.Dict():
            return any(map(_has_pictures, space.spaces.values()))
        case gymnasium.spaces.Tuple():
            return any(map(_has_pictures, space.spaces))
    return False


def action_vectors(
    id: str, space: gymnasium.Space
) -> gymnasium.spaces.Box | gymnasium.spaces.Discrete:
    """The space of the actions as vectors; choices stay what they are."""
    if isinstance(space, gymnasium.spaces.Box):
        with np.errstate(over="ignore"):  # a bound beyond all of its numbers is none
            low, high = space.low.astype(np.float32), space.high.astype(np.float32)
        return gymnasium.spaces.Box(low.ravel(), high.ravel(), dtype=np.float32)
    if isinstance(space, gymnasium.spaces.Discrete):
        return space
    raise BadInput(f"{id}: actions must be a Box or Discrete space, not {space}")


def native_action(space: gymnasium.Space, action: NDArray) -> Any:
    """A vector as the environment's own action: clipped to its bounds, whole numbers rounded to the nearest."""
    if not isinstance(space, gymnasium.spaces.Box):
        return action
    shaped = action.reshape(space.shape)
    if np.issubdtype(space.dtype, np.integer):
        # Clipped first: what an integer type cannot hold would come out as something else.
        return np.rint(shaped.clip(space.low, space.high)).astype(space.dtype)
    return shaped.astype(space.dtype).clip(space.low, space.high)
