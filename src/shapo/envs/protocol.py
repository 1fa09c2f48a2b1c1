"""The contract between environments and everything else: NumPy in, NumPy out, `num_envs` at a time.

An environment here is a *batch* of identical, independent tasks stepped together. It never imports JAX and knows
nothing of who acts in it.

Autoreset happens in the same step: where an episode ends, `Step.obs` is already the first observation of the next
episode and `Step.last_obs` the last one of the old. `terminated` (the task ended: no future) and `truncated` (time ran
out: there would have been a future) are never the same thing, because a value is bootstrapped from only one of them.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol, runtime_checkable

import gymnasium
import numpy as np
from numpy.typing import NDArray


class Step(NamedTuple):
    """What a step of `n` environments returns. The arrays are the caller's; the environment never writes them again."""

    obs: NDArray[np.float64]
    """[n, obs] where to act next: after an episode's end, the first observation of the new episode."""
    reward: NDArray[np.float64]
    """[n]"""
    cost: NDArray[np.float64]
    """[n], or [n, costs] where an environment has several cost signals."""
    terminated: NDArray[np.bool_]
    """[n] the task itself ended (a fall): the future is worth nothing."""
    truncated: NDArray[np.bool_]
    """[n] time ran out: the future goes on without us."""
    last_obs: NDArray[np.float64]
    """[n, obs] where the step led: equal to `obs` except where an episode ended."""
    task_reward: NDArray[np.float64] | None = None
    """[n] what the task itself paid, where a wrapper (Sauté) reshapes `reward`; None: the same as `reward`."""

    def __repr__(self) -> str:
        envs, obs = self.obs.shape
        return (
            f"Step({envs} × {obs} observations, reward {self.reward.min():.3g} to {self.reward.max():.3g}, "
            f"cost {self.cost.sum():g} in all, {self.terminated.sum()} terminated, {self.truncated.sum()} truncated)"
        )


@runtime_checkable
class BatchEnv(Protocol):
    """A batch of identical environments."""

    @property
    def id(self) -> str:
        """The name it was made by."""
        ...

    @property
    def num_envs(self) -> int:
        """How many environments are stepped together."""
        ...

    @property
    def observation_space(self) -> gymnasium.spaces.Box:
        """Of one environment."""
        ...

    @property
    def action_space(self) -> gymnasium.spaces.Box | gymnasium.spaces.Discrete:
        """Of one environment."""
        ...

    @property
    def num_costs(self) -> int:
        """How many cost signals a step returns; 1 unless there is a reason."""
        ...

    @property
    def horizon(self) -> int | None:
        """Steps after which an episode is truncated; None if the task has no time limit."""
        ...

    def reset(self, seed: int | None) -> NDArray[np.float64]:
        """Begin new episodes everywhere and return their first observations [n, obs].

        Environment i draws everything from `seed + i`, so a batch can be split at will. None: each goes on with what it
        draws next, wherever its episode was. Training always gives a seed.
        """
        ...

    def step(self, action: NDArray) -> Step:
        """Apply `action` [n, act] (or [n] where actions are discrete)."""
        ...

    def get_state(self) -> dict[str, NDArray]:
        """All that decides the future, as arrays whose first axis is the environment."""
        ...

    def set_state(self, state: Mapping[str, NDArray]) -> NDArray[np.float64]:
        """Continue from `get_state()`'s answer, bit for bit, and return the observations to act on [n, obs]."""
        ...

    def render(self, index: int = 0, width: int = 480, height: int = 480) -> NDArray[np.uint8]:
        """A picture of environment `index`, [height, width, 3]."""
        ...

    def close(self) -> None:
        """Free what the environment holds."""
        ...


class Remark(UserWarning):
    """What whoever trains in an environment should know of it."""


Wrapper = Callable[[BatchEnv], BatchEnv]
"""The environment as an algorithm wants to see it."""
