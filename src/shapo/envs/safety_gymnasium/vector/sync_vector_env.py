"""Many environments with six values per step, whoever steps them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv, VectorWrapper
from numpy.typing import NDArray

from shapo.envs.safety_gymnasium.wrappers import SafetyGymnasium2Gymnasium


class SafetyVectorEnv(VectorWrapper):
    """A vector that resets in the same step, with its cost as a value of its own.

    Where an episode ended, its last observation and info are `info["final_observation"]` and `info["final_info"]`, None
    for all others.
    """

    def __init__(self, env: VectorEnv) -> None:
        assert env.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
        super().__init__(env)

    def step(self, actions: NDArray) -> tuple:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Observations, rewards, costs, terminated, truncated, info."""
        obs, reward, terminated, truncated, info = self.env.step(actions)
        ended = terminated | truncated
        last = info.get("final_info", {})
        # The info of an environment that began anew is that of the new episode.
        cost = np.where(ended, last.get("cost", 0.0), info.get("cost", 0.0))
        if ended.any():
            last_infos = np.full(self.num_envs, None, object)
            for i in np.flatnonzero(ended).tolist():
                last_infos[i] = _info_of(last, i) | {"cost": float(cost[i])}
            info |= {
                "final_observation": info["final_obs"],
                "_final_observation": ended,
                "final_info": last_infos,
            }
        return obs, reward, cost, terminated, truncated, info


class SafetySyncVectorEnv(SafetyVectorEnv):
    """Single environments stepped one after the other; `vector.make` steps a whole batch in one call."""

    def __init__(self, env_fns: Sequence[Callable[[], gymnasium.Env]], **settings: Any) -> None:
        fives = [partial(_with_five_values, make) for make in env_fns]
        super().__init__(SyncVectorEnv(fives, autoreset_mode=AutoresetMode.SAME_STEP, **settings))


def _info_of(infos: Mapping[str, Any], i: int) -> dict[str, Any]:
    """What environment i said, out of Gymnasium's arrays; a mask beside each, `_key`, knows who said something."""
    return {
        key: _info_of(values, i) if isinstance(values, dict) else values[i]
        for key, values in infos.items()
        if f"_{key}" in infos and infos[f"_{key}"][i]
    }


def _with_five_values(make: Callable[[], gymnasium.Env]) -> gymnasium.Env:
    return SafetyGymnasium2Gymnasium(make())
