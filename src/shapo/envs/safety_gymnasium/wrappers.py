"""The wrappers that clients of `safety_gymnasium` put around its environments, under their names there."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from shapo.envs.safety_gymnasium.normalize import SafeNormalizeObservation

__all__ = [
    "Gymnasium2SafetyGymnasium",
    "SafeAutoResetWrapper",
    "SafeNormalizeObservation",
    "SafeRescaleAction",
    "SafeUnsqueeze",
    "SafetyGymnasium2Gymnasium",
]

# Six values where Gymnasium has five, and the reverse: that is what these are for.
# pyright: reportIncompatibleMethodOverride=false

SixValues = tuple[Any, Any, Any, Any, Any, dict[str, Any]]
"""(obs, reward, cost, terminated, truncated, info)"""


class Gymnasium2SafetyGymnasium(gymnasium.Wrapper):
    """From five values with `info["cost"]` to six."""

    def step(self, action: Any) -> SixValues:
        obs, reward, terminated, truncated, info = self.env.step(action)
        return obs, reward, info["cost"], terminated, truncated, info


class SafetyGymnasium2Gymnasium(gymnasium.Wrapper):
    """From six values to five with `info["cost"]`."""

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        obs, reward, cost, terminated, truncated, info = self.env.step(action)  # pyright: ignore
        return obs, reward, terminated, truncated, {**info, "cost": cost}


class SafeAutoResetWrapper(gymnasium.Wrapper):
    """Begins the next episode in the step that ends one; the old one's last obs and info are in the new info."""

    def step(self, action: Any) -> SixValues:
        obs, reward, cost, terminated, truncated, info = self.env.step(action)  # pyright: ignore
        if terminated or truncated:
            last = {"final_observation": obs, "final_info": info}
            obs, info = self.env.reset()
            info = {**info, **last}
        return obs, reward, cost, terminated, truncated, info


class SafeRescaleAction(gymnasium.ActionWrapper):
    """Actions within [`min_action`, `max_action`], stretched to the environment's own bounds."""

    def __init__(self, env: gymnasium.Env, min_action: ArrayLike, max_action: ArrayLike) -> None:
        super().__init__(env)
        space = env.action_space
        assert isinstance(space, gymnasium.spaces.Box)
        self.min_action = np.broadcast_to(np.asarray(min_action, space.dtype), space.shape)
        self.max_action = np.broadcast_to(np.asarray(max_action, space.dtype), space.shape)
        self._bounds = space.low, space.high

    def action(self, action: NDArray) -> NDArray:
        """What the environment is told."""
        low, high = self._bounds
        share = (action - self.min_action) / (self.max_action - self.min_action)
        return low + (high - low) * share


class SafeUnsqueeze(gymnasium.Wrapper):
    """A single environment that looks like a vector of one."""

    def reset(self, **settings: Any) -> tuple[NDArray, dict[str, Any]]:
        obs, info = self.env.reset(**settings)
        return np.asarray(obs)[None], _unsqueezed(info)

    def step(self, action: Any) -> SixValues:
        *values, info = self.env.step(action)
        return *(np.asarray(value)[None] for value in values), _unsqueezed(info)  # pyright: ignore


def _unsqueezed(info: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v[None] if isinstance(v, np.ndarray) else v for k, v in info.items()}
