"""Fitting the value functions: one network for the reward and one for each cost, all by the same rule."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from jax.flatten_util import ravel_pytree
from numpy.typing import NDArray

from shapo.rules import networks
from shapo.rules.adam import clipped_adam
from shapo.rules.geometry import Behaviour, fisher
from shapo.rules.gradients import Gradient, Plain, slope_by
from shapo.rules.networks import Mlp
from shapo.rules.schedules import Schedule, check_numbers, now
from shapo.rules.trees import add, dot
from shapo.types import Progress


class Critic(NamedTuple):
    """A value function in training."""

    params: Mlp
    optimizer: optax.OptState


@dataclass(frozen=True)
class Critics:
    """Adam on the squared error plus an L2 penalty, in minibatches, for a few epochs per batch."""

    gradient: Gradient = field(default_factory=Plain)
    """`Sam(rho)` gives the paper's sharpness-aware critics; `Shapo` would search in the critic's own metric."""
    rate: float | Schedule = 1e-3
    minibatch: int = 128
    epochs: int = 10
    decay: float = 1e-3
    max_norm: float = 40.0

    def __post_init__(self):
        check_numbers(self, "rate", "minibatch", "epochs", positive=True)
        check_numbers(self, "decay")

    def init(self, params: Mlp) -> Critic:
        """A critic that has learned nothing yet."""
        return Critic(params, clipped_adam(self.max_norm).init(params))

    def fit(
        self,
        critics: Sequence[Critic],
        obs: Array,
        targets: Sequence[Array],
        seed: Sequence[int],
        progress: Progress,
    ) -> tuple[tuple[Critic, ...], list[float]]:
        """Fit values at obs [B, O] to each critic's target [B]; also each mean loss of the last epoch.

        Each on a thread of its own: they are independent and release the GIL.
        """

        def one(index: int) -> tuple[Critic, float]:
            orders = self.orders(np.random.default_rng([*seed, index]), len(obs))
            critic, loss = self.fit_one(critics[index], obs, targets[index], orders, progress)
            return critic, float(loss)

        with ThreadPoolExecutor(len(critics)) as threads:
            fitted, losses = zip(*threads.map(one, range(len(critics))), strict=True)
        return fitted, list(losses)

    def orders(self, rng: np.random.Generator, rows: int) -> NDArray[np.int32]:
        """Which rows each minibatch of each epoch takes, [epochs, minibatches, rows].

        Made outside the compiled fit: shuffling 20,000 rows takes NumPy 0.2 ms and XLA, which sorts, 5.
        """
        size = min(self.minibatch, rows)
        order = (rng.permutation(rows)[: rows // size * size] for _ in range(self.epochs))
        return np.stack([each.reshape(-1, size) for each in order]).astype(np.int32)

    @partial(jax.jit, static_argnums=0)
    def fit_one(
        self, critic: Critic, obs: Array, target: Array, orders: Array, progress: Progress
    ) -> tuple[Critic, Array]:
        """The same for a single critic, with minibatches as in `orders`."""
        optimizer = clipped_adam(self.max_norm)
        rate = now(self.rate, progress)
        # As one vector, as in `Epochs`: on six small arrays, everything but the network would be six small operations.
        start, network = ravel_pytree(critic.params)

        def minibatch(carry: tuple[Array, Any], seen: tuple[Array, Array]) -> Any:
            (vector, memory), (x, y) = carry, seen

            def loss(vector: Array) -> Array:
                error = networks.value(network(vector), x) - y
                return jnp.mean(error**2) + self.decay * dot(vector, vector)

            behaviour = value_behaviour(x, network)
            metric = fisher(behaviour, vector, damping=0.1, iterations=10, tolerance=0.05)
            slope = slope_by(self.gradient, loss, vector, metric, behaviour, progress)
            updates, memory = optimizer.update(slope.grads, memory)
            return (add(vector, updates, -rate), memory), slope.value

        def epoch(carry: tuple[Array, Any], order: Array) -> Any:
            # All of them at once: to gather the rows of each minibatch in its turn takes longer.
            return jax.lax.scan(minibatch, carry, (obs[order], target[order]))

        (vector, memory), losses = jax.lax.scan(epoch, (start, critic.optimizer), orders)
        return Critic(network(vector), memory), losses[-1].mean()


def value_behaviour(obs: Array, critic: Callable[[Array], Mlp]) -> Behaviour:
    """What the critic of a vector says of these states; two differ by half the mean squared difference."""
    return Behaviour(
        lambda vector: networks.value(critic(vector), obs), lambda v, w: jnp.mean((v - w) ** 2) / 2
    )
