"""Our environments for everybody: `gymnasium.make_vec("shapo.envs:shapo/SafetyPointGoal1-v0", num_envs=8)`.

Gymnasium imports what stands before the colon, which registers every environment; after `import shapo.envs` the rest,
`shapo/SafetyPointGoal1-v0`, is enough.

The cost of a step is `info["cost"]`. `make_vec` steps the whole batch in one call (its default mode
here, `vectorization_mode="vector_entry_point"`) and resets in the same step, as Gymnasium's SAME_STEP
describes: an episode's last observation and info are `info["final_obs"]` and `info["final_info"]`.
`gymnasium.make` gives a single environment, on which `vectorization_mode="sync"` and `"async"` build.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from shapo.envs.protocol import BatchEnv
from shapo.envs.registry import make
from shapo.words import BadInput

NAMESPACE = "shapo/"
_FPS = 30


def register(horizons: Mapping[str, int]) -> None:
    """Make environments known to Gymnasium as `shapo/<id>`, given the steps that an episode of each takes."""
    for id, horizon in horizons.items():
        gymnasium.register(
            NAMESPACE + id,
            entry_point=f"{__name__}:SingleEnv",
            vector_entry_point=f"{__name__}:BatchedEnv",
            max_episode_steps=horizon,
            kwargs={"task": id},
        )


class BatchedEnv(VectorEnv):
    """A batch of ours as a Gymnasium `VectorEnv`. `task` is an id or a `BatchEnv` you made."""

    autoreset_mode = AutoresetMode.SAME_STEP
    metadata = {  # noqa: RUF012  (Gymnasium's own convention)
        "autoreset_mode": autoreset_mode,
        "render_modes": ["rgb_array"],
        "render_fps": _FPS,
    }

    def __init__(
        self,
        task: str | BatchEnv,
        num_envs: int = 1,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        width: int = 480,
        height: int = 480,
        **options: Any,
    ) -> None:
        self.batch = make(task, num_envs, **options) if isinstance(task, str) else task
        if max_episode_steps not in (None, self.batch.horizon):
            raise BadInput(
                f"{self.batch.id}: the batch ends episodes after {self.batch.horizon} steps, not "
                f'{max_episode_steps}; vectorization_mode="sync" takes any limit'
            )
        self.num_envs = self.batch.num_envs
        self.render_mode = render_mode
        self._size = width, height
        self.single_observation_space = self.batch.observation_space
        self.single_action_space = self.batch.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray, dict[str, Any]]:
        """Begin new episodes; environment i draws from `seed + i`, or from `seed[i]`."""
        if isinstance(seed, Sequence | np.ndarray):
            super().reset(seed=next((int(each) for each in seed if each is not None), None))
            drawn = [self._drawn() if each is None else int(each) for each in seed]
            return reset_each(self.batch, drawn), {}
        super().reset(seed=None if seed is None else int(seed))
        return self.batch.reset(self._drawn() if seed is None else int(seed)), {}

    def _drawn(self) -> int:
        return int(self.np_random.integers(2**31))

    def step(self, actions: NDArray) -> tuple[NDArray, NDArray, NDArray, NDArray, dict[str, Any]]:
        """Step all environments; those that end are reset at once."""
        step = self.batch.step(actions)
        ended = step.terminated | step.truncated
        info: dict[str, Any] = {"cost": step.cost, "_cost": np.ones(self.num_envs, bool)}
        if ended.any():
            final_obs = np.full(self.num_envs, None, object)
            for i in np.flatnonzero(ended):
                final_obs[i] = step.last_obs[i]
            final_cost = np.where(ended.reshape(-1, *(1,) * (step.cost.ndim - 1)), step.cost, 0.0)
            info |= {
                "final_obs": final_obs,
                "_final_obs": ended,
                "final_info": {"cost": final_cost, "_cost": ended},
                "_final_info": ended,
            }
        return step.obs, step.reward, step.terminated, step.truncated, info

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """A picture of each environment, if made with `render_mode="rgb_array"`."""
        if self.render_mode is None:
            return None
        return tuple(self.batch.render(i, *self._size) for i in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Close the batch."""
        self.batch.close()


def reset_each(batch: BatchEnv, seeds: Sequence[int]) -> NDArray[np.float64]:
    """Begin new episodes, environment i with `seeds[i]`, and return their first observations.

    A batch knows one seed, and its first environment gets that very one. So unless the seeds are consecutive, each
    environment's state is taken from there.
    """
    if len(seeds) != batch.num_envs:
        raise BadInput(f"{batch.id}: {len(seeds)} seeds for {batch.num_envs} environments")
    if list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return batch.reset(seeds[0])
    states = []
    for seed in seeds:
        batch.reset(seed)
        states.append({name: rows[0] for name, rows in batch.get_state().items()})
    return batch.set_state({name: np.stack([s[name] for s in states]) for name in states[0]})


class SingleEnv(gymnasium.Env):
    """One environment of ours as a Gymnasium `Env`."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": _FPS}  # noqa: RUF012

    def __init__(
        self,
        task: str,
        render_mode: str | None = None,
        width: int = 480,
        height: int = 480,
        **options: Any,
    ) -> None:
        self.batch = make(task, 1, **options)
        self.render_mode = render_mode
        self._size = width, height
        self.observation_space = self.batch.observation_space
        self.action_space = self.batch.action_space
        self._begun: NDArray | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray, dict[str, Any]]:
        """Begin an episode: after one that ended, the one that follows it."""
        super().reset(seed=seed)
        if seed is None and self._begun is not None:
            obs = self._begun
        else:
            drawn = int(self.np_random.integers(2**31)) if seed is None else seed
            obs = self.batch.reset(drawn)[0]
        self._begun = None
        return obs, {}

    def step(self, action: Any) -> tuple[NDArray, float, bool, bool, dict[str, Any]]:
        """Step once; after the end, call `reset`."""
        step = self.batch.step(np.asarray(action)[None])
        terminated, truncated = bool(step.terminated[0]), bool(step.truncated[0])
        self._begun = step.obs[0] if terminated or truncated else None
        info = {"cost": step.cost[0]}
        return step.last_obs[0], float(step.reward[0]), terminated, truncated, info

    def render(self) -> NDArray[np.uint8] | None:
        """A picture, if made with `render_mode="rgb_array"`."""
        return None if self.render_mode is None else self.batch.render(0, *self._size)

    def close(self) -> None:
        """Close the batch of one."""
        self.batch.close()
