"""The data that flows between acting and learning. Arrays only; no JAX is needed to make or read them.

Axes: T steps, N environments, O observation, A action, C cost signals, K finished episodes.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Number = Any
"""A scalar of Python, NumPy or JAX."""


class Batch(NamedTuple):
    """What N environments did for T steps under one fixed policy."""

    obs: NDArray[np.float32]
    """[T, N, O] raw observations acted on."""
    next_obs: NDArray[np.float32]
    """[T, N, O] where each step led: the old episode's last observation where one ended."""
    action: NDArray[np.float32]
    """[T, N, A]; a choice is one number, counted from 0."""
    reward: NDArray[np.float32]
    """[T, N]"""
    cost: NDArray[np.float32]
    """[T, N, C]"""
    terminated: NDArray[np.bool_]
    """[T, N] the episode ended for good: no value beyond."""
    truncated: NDArray[np.bool_]
    """[T, N] the episode was cut: the value beyond is `next_obs`'s."""


class Episodes(NamedTuple):
    """The episodes that ended within a batch, ordered by (step, env)."""

    env: NDArray[np.int64]
    """[K] which environment."""
    step: NDArray[np.int64]
    """[K] at which step of the batch it ended."""
    returns: NDArray[np.float64]
    """[K] undiscounted sum of what the task paid."""
    costs: NDArray[np.float64]
    """[K, C] undiscounted sums of cost."""
    length: NDArray[np.int64]
    """[K]"""
    terminated: NDArray[np.bool_]
    """[K]"""


class Progress(NamedTuple):
    """How far the training is: what schedules and constraints may look at."""

    iteration: Number
    """Batches learned from before this one."""
    samples: Number
    """n_t: state-action pairs seen so far, this batch included."""
    effective_samples: Number
    """The same, discounted for the autocorrelation of each batch."""
    episode_cost: Any
    """[C] J_c: expected undiscounted cost of an episode under the current policy."""
    episode_length: Number
    """Mean steps of the same episodes; infinite before any has ended."""
    remaining: Number
    """Share of the training still to come, from 1 down to 0."""
    episode_news: Number = 1.0
    """Share of the episodes that J_c is the mean of which ended in this batch; the rest was seen before."""

    @property
    def cost_is_known(self) -> Any:
        """Whether an episode has ended yet. Before, J_c stands at its limit, and nobody should learn from it."""
        return self.episode_length < np.inf


def check(batch: Batch) -> None:
    """Raise ValueError, naming the field and the place, unless `batch` is whole and finite."""
    steps, envs = np.shape(batch.reward)
    for field, value in batch._asdict().items():
        if np.shape(value)[:2] != (steps, envs):
            raise ValueError(
                f"batch.{field} has shape {np.shape(value)}; it must begin with {(steps, envs)}"
            )
        if value.dtype != np.bool_ and not np.isfinite(value).all():
            step, env = np.argwhere(~np.isfinite(value))[0][:2]
            raise ValueError(
                f"batch.{field} is {value[step, env]} at step {step} of environment {env}; it must be finite"
            )
    if batch.obs.shape != batch.next_obs.shape:
        raise ValueError(
            f"batch.next_obs has shape {batch.next_obs.shape}, batch.obs {batch.obs.shape}"
        )


def check_choices(batch: Batch, choices: int) -> None:
    """Raise ValueError unless every action of `batch` is the number of one of so many choices, counted from 0."""
    wrong = ~np.isin(batch.action, np.arange(choices))
    if wrong.any():
        raise ValueError(
            f"batch.action has {batch.action[wrong][0]:g}; choices are numbered from 0 to {choices - 1}"
        )


def check_sizes(
    batch: Batch, episode_cost: Sequence[float], observation: int, action: int, costs: int
) -> None:
    """Raise ValueError unless `batch` and `episode_cost` are as wide as a learner expects."""
    sizes = {
        "batch.obs": (batch.obs.shape[-1], observation, "features"),
        "batch.action": (batch.action.shape[-1], action, "dimensions"),
        "batch.cost": (batch.cost.shape[-1], costs, "cost signals"),
        "episode_cost": (len(episode_cost), costs, "cost signals"),
    }
    for name, (found, expected, what) in sizes.items():
        if found != expected:
            raise ValueError(f"{name} has {found} {what}, the learner expects {expected}")
    if not np.isfinite(episode_cost).all():
        raise ValueError(f"episode_cost is {episode_cost}; it must be finite")
