"""Our environments for Stable-Baselines3: `make_vec_env("SafetyPointGoal1-v0", n_envs=64)` is a `VecEnv` of theirs.

All environments are stepped in one call. Stable-Baselines3 brings PyTorch, so it is imported only when it is used.
"""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shapo.envs.gymnasium_out import BatchedEnv
from shapo.envs.protocol import BatchEnv, Step
from shapo.words import BadInput

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecEnv  # pyright: ignore[reportMissingImports]

Outcome = tuple[NDArray, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]
"""Observations, rewards, who is done, and an info for each: what a step of theirs returns."""


def make_vec_env(env_id: str, n_envs: int = 1, seed: int | None = None, **options: Any) -> "VecEnv":
    """`n_envs` environments in one batch, with their returns logged; `options` go to `shapo.envs.make`."""
    env = as_vec_env(BatchedEnv(env_id, n_envs, "rgb_array", **options))
    from stable_baselines3.common.vec_env import VecMonitor  # pyright: ignore[reportMissingImports]

    env.seed(seed)
    return VecMonitor(env)


def as_vec_env(env: BatchedEnv | BatchEnv) -> "VecEnv":
    """A batch as a `VecEnv`. The cost of a step is `infos[i]["cost"]`."""
    batched = env if isinstance(env, BatchedEnv) else BatchedEnv(env, render_mode="rgb_array")
    return _vec_env_class()(batched)


def outcome(step: Step) -> Outcome:
    """A step as Stable-Baselines3 wants it: where an episode ended, its last observation is in the info."""
    done = step.terminated | step.truncated
    infos: list[dict[str, Any]] = [
        {"cost": cost, "TimeLimit.truncated": cut}
        for cost, cut in zip(step.cost.tolist(), (step.truncated & ~step.terminated).tolist(), strict=True)
    ]  # fmt: skip
    for i in np.flatnonzero(done):
        infos[i]["terminal_observation"] = step.last_obs[i]
    return step.obs, step.reward.astype(np.float32), done, infos


@functools.cache
def _vec_env_class() -> type:
    """Their abstract class, filled in. Made on first use, because a class needs its base to be there."""
    try:
        from stable_baselines3.common.vec_env import VecEnv  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise BadInput(
            "Stable-Baselines3 is missing; install it with: pip install 'shapo[sb3]'"
        ) from None

    class BatchVecEnv(VecEnv):
        def __init__(self, env: BatchedEnv) -> None:
            self.env = env
            super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

        def reset(self) -> NDArray:
            known = None not in self._seeds
            obs, _ = self.env.reset(seed=self._seeds if known else None)
            self._reset_seeds()
            self._reset_options()
            return obs

        def step_async(self, actions: NDArray) -> None:
            self._actions = actions

        def step_wait(self) -> Outcome:
            return outcome(self.env.batch.step(self._actions))

        def close(self) -> None:
            self.env.close()

        def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
            return self.env.render() or [None] * self.num_envs

        def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
            return [getattr(self.env, attr_name) for _ in self._get_indices(indices)]

        def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
            raise self._one_thing(f"no {attr_name} to set")

        def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any):
            raise self._one_thing(f"no {method_name} to call")

        def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
            return [False for _ in self._get_indices(indices)]

        def _one_thing(self, lack: str) -> AttributeError:
            name = self.env.batch.id
            return AttributeError(f"{name}: a batch is one thing, its environments have {lack}")

    return BatchVecEnv
