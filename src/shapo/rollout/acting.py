"""Acting with NumPy alone: all that a trained policy needs where there is no JAX."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CLIP = 5.0
"""A normalised observation stays within ± this many standard deviations, as OmniSafe does."""
BLOCK = 10
"""Observations are multiplied in blocks of so many rows, and an environment has the same place in its block whoever
steps it. A matrix product may sum in an order that depends on the matrix's height and on the row's place in it; so both
are fixed, or how environments are dealt to workers would decide the last bit."""


class Actor(NamedTuple):
    """A policy as plain float32 arrays: a tanh network on normalised observations gives mean actions or logits."""

    weights: tuple[NDArray[np.float32], ...]
    """[inputs, outputs] of each layer."""
    biases: tuple[NDArray[np.float32], ...]
    """[outputs] of each layer."""
    log_std: NDArray[np.float32] | None
    """[A] of every state's distribution; None: actions are choices, which have none."""
    mean: NDArray[np.float32]
    """[O] subtracted from an observation."""
    scale: NDArray[np.float32]
    """[O] that the difference is then divided by."""


class Forward:
    """What the network says to neighbouring environments, computed in buffers made once."""

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
        """Mean actions [rows, A], or logits, for raw observations [rows, O]; overwritten by the next call."""
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
