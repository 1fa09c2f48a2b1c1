"""Observations with the mean and deviation of all that were seen so far taken out, as SafePO trains on them."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.wrappers.utils import RunningMeanStd
from numpy.typing import NDArray

# Six values where Gymnasium has five.
# pyright: reportIncompatibleMethodOverride=false


class Normalizer:
    """What was seen so far, and how to see past it."""

    def __init__(self, shape: tuple[int, ...], epsilon: float) -> None:
        self.seen = RunningMeanStd(shape=shape)
        self._epsilon = epsilon

    def observe(self, obs: NDArray) -> NDArray[np.float64]:
        """Learn from observations [n, obs] and normalise them."""
        self.seen.update(obs)
        return self.apply(obs)

    def apply(self, obs: NDArray) -> NDArray[np.float64]:
        """Normalise without learning."""
        return (obs - self.seen.mean) / np.sqrt(self.seen.var + self._epsilon)


class _One(gymnasium.Wrapper):
    def __init__(self, env: gymnasium.Env, epsilon: float) -> None:
        super().__init__(env)
        self._normalizer = Normalizer(env.observation_space.shape or (), epsilon)
        self.obs_rms = self._normalizer.seen

    def reset(self, **settings: Any) -> tuple[NDArray, dict[str, Any]]:
        obs, info = self.env.reset(**settings)
        return self._normalizer.observe(obs[None])[0], info

    def step(self, action: Any) -> tuple:
        obs, *values, info = self.env.step(action)
        if "final_observation" in info:
            last = self._normalizer.apply(info["final_observation"])
            info = {**info, "final_observation": last}
        return self._normalizer.observe(obs[None])[0], *values, info


class _Many(VectorWrapper):
    def __init__(self, env: VectorEnv, epsilon: float) -> None:
        super().__init__(env)
        self._normalizer = Normalizer(env.single_observation_space.shape or (), epsilon)
        self.obs_rms = self._normalizer.seen

    def reset(self, **settings: Any) -> tuple[NDArray, dict[str, Any]]:
        obs, info = self.env.reset(**settings)
        return self._normalizer.observe(obs), info

    def step(self, actions: NDArray) -> tuple:
        obs, *values, info = self.env.step(actions)
        if "final_observation" in info:
            last = np.full(self.num_envs, None, object)
            for i in np.flatnonzero(info["_final_observation"]):
                last[i] = self._normalizer.apply(info["final_observation"][i])
            info = {**info, "final_observation": last}
        return self._normalizer.observe(obs), *values, info


def SafeNormalizeObservation(
    env: gymnasium.Env | VectorEnv, epsilon: float = 1e-8
) -> gymnasium.Env | VectorEnv:
    """`env`, single or a vector, with normalised observations; those that end an episode are normalised, too."""
    return _Many(env, epsilon) if isinstance(env, VectorEnv) else _One(env, epsilon)
