"""What a policy's outputs are to an environment: real numbers in its bounds, or one of its choices."""

from typing import NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from shapo.rollout.acting import Actor
from shapo.words import BadInput


class ActionScale(NamedTuple):
    """The policy acts in [−1, 1], the environment within its own bounds. Affine and unclipped, as in published code."""

    offset: NDArray[np.float64]
    """[A]"""
    factor: NDArray[np.float64]
    """[A]"""

    @property
    def size(self) -> int:
        """Numbers that an action is made of."""
        return len(self.offset)

    @property
    def choices(self) -> None:
        """None: there are infinitely many."""
        return None

    @classmethod
    def of(cls, space: gymnasium.spaces.Box) -> "ActionScale":
        """For a vector of numbers; one without finite bounds is left as it is."""
        low, high = space.low.astype(np.float64), space.high.astype(np.float64)
        bounded = np.isfinite(low) & np.isfinite(high)
        low, high = np.where(bounded, low, -1.0), np.where(bounded, high, 1.0)
        return cls((low + high) / 2, (high - low) / 2)

    def noise(self, actor: Actor, rng: np.random.Generator, rows: int) -> NDArray[np.float32]:
        """What to add to the outputs so that actions are drawn from the policy. [rows, A]"""
        assert actor.log_std is not None
        return rng.standard_normal((rows, self.size), np.float32) * np.exp(actor.log_std)

    def choose(
        self, outputs: NDArray[np.float32], noise: NDArray[np.float32] | float, action: NDArray
    ) -> None:
        """Write into `action` [rows, A] what the policy says, given what its network puts out and some `noise`."""
        np.add(outputs, noise, out=action)

    def apply(self, action: NDArray) -> NDArray[np.float64]:
        """What the environment is told when the policy says `action` [..., A]."""
        return self.offset + self.factor * action


class Choices(NamedTuple):
    """The network's outputs are logits. A policy's choices are numbered from 0, the environment's from `start`."""

    choices: int
    """How many there are."""
    start: int
    """What the environment calls the first."""

    @property
    def size(self) -> int:
        """Numbers that an action is made of."""
        return 1

    def noise(self, actor: Actor, rng: np.random.Generator, rows: int) -> NDArray[np.float32]:
        """What to add to the logits so that the largest is drawn from the policy: Gumbel's. [rows, choices]"""
        return rng.gumbel(size=(rows, self.choices)).astype(np.float32)

    def choose(
        self, outputs: NDArray[np.float32], noise: NDArray[np.float32] | float, action: NDArray
    ) -> None:
        """Write into `action` [rows, 1] which of the network's outputs is the largest, given some `noise`."""
        action[:, 0] = np.argmax(outputs + noise, axis=1)

    def apply(self, action: NDArray) -> NDArray[np.int64]:
        """What the environment is told when the policy says `action` [..., 1]. [...]"""
        return self.start + action[..., 0].astype(np.int64)


Actions = ActionScale | Choices


def actions_of(space: gymnasium.Space, env: str) -> Actions:
    """For an action space; BadInput if it is none that a policy can act in."""
    if isinstance(space, gymnasium.spaces.Discrete):
        return Choices(int(space.n), int(space.start))
    if isinstance(space, gymnasium.spaces.Box) and len(space.shape) == 1:
        return ActionScale.of(space)
    raise BadInput(
        f"{env} has the action space {space}; training needs a one-dimensional Box of real numbers, or Discrete choices"
    )
