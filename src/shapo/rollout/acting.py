"""Acting with NumPy alone: all that a trained policy needs where there is no JAX."""

from typing import NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from shapo.words import BadInput

CLIP = 5.0
"""A normalised observation stays within ± this many standard deviations, as OmniSafe does."""
BLOCK = 10
"""Observations are multiplied in blocks of so many rows, and an environment has the same place in its block whoever
steps it. A matrix product may sum in an order that depends on the matrix's height and on the row's place in it; so both
are fixed, or how environments are dealt to workers would decide the last bit."""


class Actor(NamedTuple):
    """A Gaussian policy as plain float32 arrays: a tanh network on normalised observations gives the mean."""

    weights: tuple[NDArray[np.float32], ...]
    """[inputs, outputs] of each layer."""
    biases: tuple[NDArray[np.float32], ...]
    """[outputs] of each layer."""
    log_std: NDArray[np.float32]
    """[A] of every state's distribution."""
    mean: NDArray[np.float32]
    """[O] subtracted from an observation."""
    scale: NDArray[np.float32]
    """[O] that the difference is then divided by."""


class ActionScale(NamedTuple):
    """The policy acts in [−1, 1], the environment within its own bounds. Affine and unclipped, as in published code."""

    offset: NDArray[np.float64]
    """[A]"""
    factor: NDArray[np.float64]
    """[A]"""

    @classmethod
    def of(cls, space: gymnasium.Space, env: str) -> "ActionScale":
        """For an action space; a dimension without finite bounds is left as it is."""
        if not isinstance(space, gymnasium.spaces.Box) or len(space.shape) != 1:
            raise BadInput(
                f"{env} has the action space {space}; training needs a one-dimensional Box of real numbers"
            )
        low, high = space.low.astype(np.float64), space.high.astype(np.float64)
        bounded = np.isfinite(low) & np.isfinite(high)
        low, high = np.where(bounded, low, -1.0), np.where(bounded, high, 1.0)
        return cls((low + high) / 2, (high - low) / 2)

    def apply(self, action: NDArray) -> NDArray[np.float64]:
        """What the environment is told when the policy says `action` [..., A]."""
        return self.offset + self.factor * action


class Forward:
    """The mean action of neighbouring environments, computed in buffers made once."""

    def __init__(self, actor: Actor, rows: int, first: int = 0):
        """For environments number `first` to `first + rows - 1`."""
        self._actor = actor
        before = first % BLOCK
        blocks = -(-(before + rows) // BLOCK)
        self._input = np.zeros((blocks, BLOCK, len(actor.mean)), np.float32)
        self._own = self._input.reshape(blocks * BLOCK, -1)[before : before + rows]
        values = [np.zeros((blocks, BLOCK, len(bias)), np.float32) for bias in actor.biases]
        *self._hidden, self._last = list(zip(actor.weights, actor.biases, values, strict=True))
        self._answer = values[-1].reshape(blocks * BLOCK, -1)[before : before + rows]

    def __call__(self, obs: NDArray[np.float32]) -> NDArray[np.float32]:
        """The mean actions [rows, A] for raw observations [rows, O]; overwritten by the next call."""
        x, own = self._input, self._own
        np.subtract(obs, self._actor.mean, out=own)
        np.divide(own, self._actor.scale, out=own)
        np.minimum(own, CLIP, out=own)
        np.maximum(own, -CLIP, out=own)
        for weight, bias, value in self._hidden:
            np.matmul(x, weight, out=value)
            np.add(value, bias, out=value)
            x = np.tanh(value, out=value)
        weight, bias, value = self._last
        np.matmul(x, weight, out=value)
        np.add(value, bias, out=value)
        return self._answer
