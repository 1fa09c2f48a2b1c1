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
from shapo.envs.states import begin
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
        if options and not isinstance(task, str):
            raise BadInput(f"{task.id} is made already and takes no {', '.join(options)}")
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
        self._seeded = np.zeros(self.num_envs, bool)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray, dict[str, Any]]:
        """Begin new episodes; environment i draws from `seed + i`, or from `seed[i]`; None: it goes on with its stream.

        `options["reset_mask"]` says who begins anew; all others stay where they are.
        """
        again = self._mask(options)
        obs = begin(self.batch, self._seeds(seed), again)
        self._seeded |= again
        return obs, {}

    def _mask(self, options: dict[str, Any] | None) -> NDArray[np.bool_]:
        if options is None or "reset_mask" not in options:
            return np.ones(self.num_envs, bool)
        # Left where it is: wrappers look at it after us.
        mask = np.asarray(options["reset_mask"])
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
            raise BadInput(
                f"{self.batch.id}: options['reset_mask'] must be {self.num_envs} booleans, one of them True at least, "
                f"got {options['reset_mask']!r}"
            )
        return mask

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """A seed for each environment; None: it goes on with its stream.

        Whoever has not been seeded here draws a seed: that which the batch was made with must not show.
        """
        if isinstance(seed, Sequence | np.ndarray):
            seeds = [None if each is None else int(each) for each in seed]
        else:
            seeds = [None if seed is None else int(seed) + i for i in range(self.num_envs)]
        if len(seeds) != self.num_envs:
            raise BadInput(f"{self.batch.id}: {len(seeds)} seeds for {self.num_envs} environments")
        super().reset(seed=next((each for each in seeds if each is not None), None))
        if seed is None and not self._seeded.any():
            drawn = self._drawn()  # in a row, as a batch wants them
            return [drawn + i for i in range(self.num_envs)]
        return [
            self._drawn() if each is None and not seeded else each
            for each, seeded in zip(seeds, self._seeded, strict=True)
        ]

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
        self._seeded = False
        self._begun: NDArray | None = None
        """Where the next episode begins, if one has ended: the batch has begun it already."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray, dict[str, Any]]:
        """Begin an episode; without a seed, the one that follows in the stream of the seed given last."""
        super().reset(seed=seed)
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(2**31))
        begun = self._begun if seed is None else None
        obs = self.batch.reset(seed)[0] if begun is None else begun
        self._seeded, self._begun = True, None
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
