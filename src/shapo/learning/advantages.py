"""Generalised advantage estimation, for rewards and costs alike."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray


def gae(
    signal: Array,
    value: Array,
    next_value: Array,
    terminated: Array,
    truncated: Array,
    *,
    discount: float,
    gae: float,
) -> Array:
    """Advantages of a signal (reward or cost) along T steps of N environments, all arrays [T, N].

        δ_t = x_t + γ (1 − terminated_t) V(s_{t+1}) − V(s_t)
        A_t = δ_t + γλ (1 − ended_t) A_{t+1},   ended = terminated or truncated

    `next_value` is the value of where the step led: after a truncation that is the old episode's last observation, so
    the future that was cut off still counts; after a termination there is none.
    """
    delta = signal + discount * jnp.where(terminated, 0.0, next_value) - value
    carry_on = jnp.where(terminated | truncated, 0.0, discount * gae)

    def backwards(later: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
        delta, carry_on = now
        advantage = delta + carry_on * later
        return advantage, advantage

    return jax.lax.scan(
        backwards, jnp.zeros_like(delta[0]), (delta, carry_on), reverse=True, unroll=8
    )[1]


def standardise(advantage: Array) -> Array:
    """Mean 0, standard deviation 1: a reward's scale does not matter. All 0 where they differ by rounding alone."""
    rounding = 10 * jnp.finfo(advantage.dtype).eps * jnp.abs(advantage).max()
    standard = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    return jnp.where(advantage.std() > rounding, standard, 0.0)


def centre(advantage: Array, axis: int | None = None) -> Array:
    """Mean 0: a cost's scale does matter, its limit is in the same unit."""
    return advantage - advantage.mean(axis)


def sides(steps: int, envs: int) -> NDArray[np.float32]:
    """Weights [T, N] that set one half of the environments against the other; of the steps, where there is but one.

    Their mean is 0 and their mean square 1, also where halves are unequal: what is left of independent noise has the
    variance of its mean over the batch. A single step has no halves, and a weight of 0.
    """
    if steps * envs == 1:
        return np.zeros((1, 1), np.float32)
    step, env = np.indices((steps, envs))
    first = env < envs // 2 if envs > 1 else step < steps // 2
    share = first.mean()
    weight = np.sqrt((1 - share) / share)
    return np.where(first, weight, -1 / weight).astype(np.float32)
