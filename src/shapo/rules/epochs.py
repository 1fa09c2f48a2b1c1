"""How far we go, PPO's answer: many small steps of Adam on a loss that stops paying for moving too far (`losses`)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax import Array
from jax.flatten_util import ravel_pytree

from shapo.rules.adam import clipped_adam
from shapo.rules.geometry import Behaviour
from shapo.rules.gradients import Gradient, Metrics, Plain, slope_by
from shapo.rules.losses import Clipped, MinibatchLoss
from shapo.rules.networks import Policy
from shapo.rules.schedules import Schedule, check_numbers, now
from shapo.rules.steps import SKETCH_STATES, FisherSolver, named, thinned
from shapo.rules.surrogates import Samples, policy_behaviour, take
from shapo.rules.trees import Tree, add
from shapo.types import Progress

WATCHED = 10
"""Whether to stop is decided by one state in so many of a large batch: a look at all of them takes a quarter of an
epoch, and 2,000 states tell their KL to a few percent."""

MOST_SORTED = 2**18
"""Rows that 32 bits number and shuffle well: 14 of them are left to chance."""


@dataclass(frozen=True)
class Epochs:
    """Adam on a loss (PPO's, unless told), in minibatches, until the policy has moved `stop_kl` or the epochs are over.

    With `Shapo`, every minibatch step looks for the worst policy near the *current* parameters: inside the epochs the
    Fisher matrix at the policy that acted would describe another neighbourhood.
    """

    gradient: Gradient = field(default_factory=Plain)
    rate: float | Schedule = 3e-4
    """Adam's learning rate: a number falls linearly to 0 over the training; a function of progress says all itself."""
    loss: MinibatchLoss = field(default_factory=Clipped)
    epochs: int = 40
    minibatch: int = 64
    stop_kl: float | Schedule = 0.02
    """In nats, summed over action dimensions; looked at after each epoch, in one state of `WATCHED`."""
    max_norm: float = 40.0
    solver: FisherSolver = field(
        default_factory=lambda: FisherSolver(iterations=10, tolerance=0.05, thinning=1)
    )

    def __post_init__(self):
        check_numbers(self, "rate", "epochs", "minibatch", "stop_kl", positive=True)

    def init(self, params: Tree) -> optax.OptState:
        """Adam's memory, kept between iterations."""
        return clipped_adam(self.max_norm).init(params)

    def update(
        self,
        params: Policy,
        state: Any,
        samples: Samples,
        advantage: Array,
        progress: Progress,
        key: Array,
    ) -> tuple[Policy, Any, Metrics]:
        """Epochs of minibatch steps."""
        rows = len(samples.log_prob)
        size = min(self.minibatch, rows)
        # As one vector: on six small arrays, everything but the network itself would be six small operations.
        start, policy = ravel_pytree(params)
        few = thinned(rows, WATCHED if rows >= SKETCH_STATES * WATCHED else 1)
        watched = moved_from(start, policy_behaviour(samples.obs[few], policy))
        rate = now(self.rate, progress)
        if not callable(self.rate):
            rate = rate * jnp.asarray(progress.remaining)
        stop_kl = now(self.stop_kl, progress)
        optimizer = clipped_adam(self.max_norm)

        def minibatch(carry: tuple[Array, Any], seen: tuple[Samples, Array]) -> Any:
            (vector, state), (part, advantage) = carry, seen
            loss = self.loss(part, advantage, params, progress)
            slope = slope_by(
                self.gradient,
                lambda vector: loss(policy(vector)),
                vector,
                self.solver.metric(part, vector, policy),
                policy_behaviour(part.obs, policy),
                progress,
            )
            updates, state = optimizer.update(slope.grads, state)
            return (add(vector, updates, -rate), state), slope.metrics

        def unfinished(carry) -> Array:
            epoch, kl, *_ = carry
            return (epoch < self.epochs) & (kl <= stop_kl)

        def pass_over(carry):
            epoch, _, vector, state, _ = carry
            order = minibatches(jax.random.fold_in(key, epoch), rows, size)
            # All of them at once: to gather the rows of each minibatch in its turn takes longer.
            seen = take((samples, advantage), order)
            (vector, state), metrics = jax.lax.scan(minibatch, (vector, state), seen)
            return epoch + 1, watched(vector), vector, state, jax.tree.map(jnp.mean, metrics)

        none = jnp.zeros((), start.dtype)
        first = take((samples, advantage), jnp.arange(size))
        shapes = jax.eval_shape(minibatch, (start, state), first)[1]
        begin = (0, none, start, state, jax.tree.map(lambda _: none, shapes))
        epochs, _, vector, state, metrics = jax.lax.while_loop(unfinished, pass_over, begin)
        kl = moved_from(start, policy_behaviour(samples.obs, policy))(vector)
        metrics = {"policy/kl": kl, "policy/epochs": epochs} | named("gradient", metrics)
        return policy(vector), state, metrics


def moved_from(start: Tree, behaviour: Behaviour) -> Callable[[Tree], Array]:
    """params ↦ how far they are from `start`."""
    here = behaviour.outputs(start)
    return lambda params: behaviour.divergence(here, behaviour.outputs(params))


def minibatches(key: Array, rows: int, size: int) -> Array:
    """Which rows each minibatch of an epoch takes, [minibatches, size]: all of them in random order, but for a rest.

    Numbers whose high bits are random and whose low bits are the row are sorted: XLA does that in a tenth of the time
    that `jax.random.permutation` takes, which is a fifth of an epoch's. Rows that draw the same high bits keep their
    order; they are neighbours, and inside a minibatch order does not matter. Of very many rows too many would.
    """
    if rows > MOST_SORTED:
        order = jax.random.permutation(key, rows).astype(jnp.int32)
        return order[: rows // size * size].reshape(-1, size)
    low = (rows - 1).bit_length()
    drawn = jax.random.bits(key, (rows,), jnp.uint32) >> low << low
    order = jnp.sort(drawn | jnp.arange(rows, dtype=jnp.uint32)) & (2**low - 1)
    return order[: rows // size * size].reshape(-1, size).astype(jnp.int32)
