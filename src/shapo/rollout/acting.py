"""Acting with NumPy alone: all that a trained policy needs where there is no JAX."""

from typing import NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

CLIP = 5.0
"""A normalised observation stays within ± this many standard deviations, as OmniSafe does."""
NARROWEST = 16
"""Matrix products at least this wide and two rows high sum in an order that does not depend on the number of rows
(checked with OpenBLAS); narrower ones do, and then how environments are dealt to workers would decide the last bit."""


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
            raise ValueError(
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
    """The mean action for a fixed number of observations at a time, computed in buffers made once."""

    def __init__(self, actor: Actor, rows: int):
        self._actor = actor
        self._rows = rows
        outputs = len(actor.log_std)
        widths = [len(bias) for bias in actor.biases[:-1]] + [max(outputs, NARROWEST)]
        last_weight = np.zeros((len(actor.weights[-1]), widths[-1]), np.float32)
        last_bias = np.zeros(widths[-1], np.float32)
        last_weight[:, :outputs], last_bias[:outputs] = actor.weights[-1], actor.biases[-1]
        height = max(rows, 2)
        self._input = np.zeros((height, len(actor.mean)), np.float32)
        values = [np.zeros((height, width), np.float32) for width in widths]
        weights = (*actor.weights[:-1], last_weight)
        biases = (*actor.biases[:-1], last_bias)
        *self._hidden, self._last = list(zip(weights, biases, values, strict=True))
        self._answer = values[-1][:rows, :outputs]

    def __call__(self, obs: NDArray[np.float32]) -> NDArray[np.float32]:
        """The mean actions [rows, A] for raw observations [rows, O]; overwritten by the next call."""
        x = self._input
        own = x[: self._rows]
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
