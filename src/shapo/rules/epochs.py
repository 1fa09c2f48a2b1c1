"""How far we go, PPO's answer: many small steps of Adam on a loss that stops paying for moving too far."""

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax import Array
from jax.flatten_util import ravel_pytree

from shapo.rules.adam import clipped_adam
from shapo.rules.gradients import Gradient, Metrics, Plain
from shapo.rules.networks import Policy
from shapo.rules.schedules import Schedule, check_number, now
from shapo.rules.steps import FisherSolver, named
from shapo.rules.surrogates import Samples, clipped_surrogate, policy_behaviour, take
from shapo.rules.trees import add
from shapo.types import Progress


@dataclass(frozen=True)
class ClippedEpochs:
    """PPO: Adam on the clipped surrogate, in minibatches, until the policy has moved `stop_kl` or the epochs are over.

    With `Shapo`, every minibatch step looks for the worst policy near the *current* parameters: inside the epochs the
    Fisher matrix at the policy that acted would describe another neighbourhood.
    """

    gradient: Gradient = field(default_factory=Plain)
    rate: float | Schedule = 3e-4
    """Adam's learning rate: a number falls linearly to 0 over the training; a function of progress says all itself."""
    clip: float | Schedule = 0.2
    epochs: int = 40
    minibatch: int = 64
    stop_kl: float | Schedule = 0.02
    """In nats, summed over action dimensions; looked at after each epoch."""
    max_norm: float = 40.0
    solver: FisherSolver = field(
        default_factory=lambda: FisherSolver(iterations=10, tolerance=0.05, thinning=1)
    )

    def __post_init__(self):
        for name in ("rate", "clip", "stop_kl"):
            check_number(getattr(self, name), f"ClippedEpochs({name}={{}})", positive=True)

    def init(self, params: Policy) -> optax.OptState:
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
        vector, policy = ravel_pytree(params)
        behaviour = policy_behaviour(samples.obs, policy)
        here = behaviour.outputs(vector)
        rate = now(self.rate, progress)
        if not callable(self.rate):
            rate = rate * jnp.asarray(progress.remaining)
        clip, stop_kl = now(self.clip, progress), now(self.stop_kl, progress)
        optimizer = clipped_adam(self.max_norm)

        def minibatch(carry: tuple[Array, Any], seen: tuple[Samples, Array]) -> Any:
            (vector, state), (part, advantage) = carry, seen
            loss = clipped_surrogate(part, advantage, clip)
            slope = self.gradient(
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
            kl = behaviour.divergence(here, behaviour.outputs(vector))
            return epoch + 1, kl, vector, state, jax.tree.map(jnp.mean, metrics)

        none = jnp.zeros((), vector.dtype)
        first = take((samples, advantage), jnp.arange(size))
        shapes = jax.eval_shape(minibatch, (vector, state), first)[1]
        start = (0, none, vector, state, jax.tree.map(lambda _: none, shapes))
        epochs, kl, vector, state, metrics = jax.lax.while_loop(unfinished, pass_over, start)
        metrics = {"policy/kl": kl, "policy/epochs": epochs} | named("gradient", metrics)
        return policy(vector), state, metrics


def minibatches(key: Array, rows: int, size: int) -> Array:
    """Which rows each minibatch of an epoch takes, [minibatches, size]: all of them in random order, but for a rest.

    Numbers whose high bits are random and whose low bits are the row are sorted: XLA does that in a tenth of the time
    that `jax.random.permutation` takes, which is a fifth of an epoch's. Rows that draw the same high bits keep their
    order; they are neighbours, and inside a minibatch order does not matter.
    """
    low = (rows - 1).bit_length()
    drawn = jax.random.bits(key, (rows,), jnp.uint32) >> low << low
    order = jnp.sort(drawn | jnp.arange(rows, dtype=jnp.uint32)) & (2**low - 1)
    return order[: rows // size * size].reshape(-1, size).astype(jnp.int32)
