"""How far we go: a trust region with a line search, or PPO's clipped epochs.

A step has `init(params)` and `update(params, state, samples, advantage, progress, key)`.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from numpy.typing import NDArray

from shapo.rules.adam import clipped_adam
from shapo.rules.geometry import Metric, backtrack, fisher, steepest
from shapo.rules.gradients import Gradient, Metrics, Plain
from shapo.rules.networks import Policy
from shapo.rules.schedules import Schedule, check_number, now
from shapo.rules.surrogates import Samples, clipped_surrogate, policy_behaviour, surrogate, take
from shapo.rules.trees import add, scale
from shapo.types import Progress

SKETCH_STATES = 200
"""Fewer states say too little of a Fisher matrix, and a small batch is quickly solved as it is."""


class Step(Protocol):
    """A rule that moves a policy to where an advantage is higher."""

    def init(self, params: Policy) -> Any:
        """What the step remembers between iterations."""
        ...

    def update(
        self,
        params: Policy,
        state: Any,
        samples: Samples,
        advantage: Array,
        progress: Progress,
        key: Array,
    ) -> tuple[Policy, Any, Metrics]:
        """The new policy."""
        ...


@dataclass(frozen=True)
class FisherSolver:
    """How the policy's Fisher matrix is damped and its systems are solved."""

    damping: float = 0.1
    """Added to the diagonal. Published code adds 0.1 to a Fisher matrix *averaged* over action dimensions: there it
    corresponds to 0.1 · (number of action dimensions) here."""
    iterations: int = 15
    tolerance: float = 0.02
    """Relative residual at which conjugate gradients stop."""
    thinning: int = 10
    """Systems are first solved for one state in so many, then corrected for all of them; 1 leaves that out, and so does
    a batch that would leave fewer than `SKETCH_STATES`."""

    def metric(self, samples: Samples, params: Policy) -> Metric:
        """The metric anchored at `params`."""
        rows = len(samples.obs)
        sketch = None
        if self.thinning > 1 and rows >= SKETCH_STATES * self.thinning:
            sketch = policy_behaviour(samples.obs[thinned(rows, self.thinning)])
        return fisher(
            policy_behaviour(samples.obs),
            params,
            damping=self.damping,
            iterations=self.iterations,
            tolerance=self.tolerance,
            sketch=sketch,
        )


def thinned(rows: int, thinning: int) -> NDArray[np.int64]:
    """One row of every `thinning` neighbours, by lot: rows alternate between environments, and all must be seen."""
    first = np.arange(0, rows, thinning)
    return np.minimum(
        first + np.random.default_rng(0).integers(thinning, size=len(first)), rows - 1
    )


class Candidate(NamedTuple):
    """What a line search knows of a point."""

    loss: Array
    kl: Array


@dataclass(frozen=True)
class TrustRegion:
    """TRPO: the steepest step within KL `radius`, shortened until the unperturbed loss does not rise.

    θ ← θ − κ·U_F(g̃, radius), κ = 1, 0.8, 0.8², …: the first for which L(θ') ≤ L(θ) and KL(π‖π') ≤ radius.
    If none is, θ stays, and `policy/fraction` is 0.
    """

    radius: float | Schedule
    """δ_up, in nats of KL summed over action dimensions; a number or a function of progress."""
    gradient: Gradient = field(default_factory=Plain)
    solver: FisherSolver = field(default_factory=FisherSolver)
    trials: int = 15

    def __post_init__(self):
        check_number(self.radius, "TrustRegion(radius={})", positive=True)

    def init(self, params: Policy) -> tuple[()]:
        """Nothing to remember."""
        return ()

    def update(
        self,
        params: Policy,
        state: tuple[()],
        samples: Samples,
        advantage: Array,
        progress: Progress,
        key: Array,
    ) -> tuple[Policy, tuple[()], Metrics]:
        """One natural-gradient step."""
        behaviour, loss = policy_behaviour(samples.obs), surrogate(samples, advantage)
        metric = self.solver.metric(samples, params)
        slope = self.gradient(loss, params, metric, behaviour, progress)
        radius = now(self.radius, progress)
        descent = steepest(slope.grads, metric, radius, guess=slope.natural)
        here = behaviour.outputs(params)
        moved = backtrack(
            params,
            scale(-1.0, descent.move),
            evaluate=lambda p: Candidate(loss(p), behaviour.divergence(here, behaviour.outputs(p))),
            accept=lambda found: (found.loss <= slope.value) & (found.kl <= radius),
            trials=self.trials,
        )
        accepted = moved.fraction > 0
        metrics = {
            "policy/kl": jnp.where(accepted, moved.found.kl, 0.0),
            "policy/improvement": jnp.where(accepted, slope.value - moved.found.loss, 0.0),
            "policy/fraction": moved.fraction,
            "policy/residual": descent.residual,
            "policy/cg_iterations": descent.iterations,
        }
        return moved.params, state, metrics | named("gradient", slope.metrics)


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
        rows = samples.log_prob.shape[0]
        size = min(self.minibatch, rows)
        behaviour = policy_behaviour(samples.obs)
        here = behaviour.outputs(params)
        rate = now(self.rate, progress)
        if not callable(self.rate):
            rate = rate * jnp.asarray(progress.remaining)
        clip, stop_kl = now(self.clip, progress), now(self.stop_kl, progress)
        optimizer = clipped_adam(self.max_norm)

        def minibatch(carry: tuple[Any, Any], rows: Array) -> tuple[tuple[Any, Any], Metrics]:
            params, state = carry
            part = take(samples, rows)
            loss = clipped_surrogate(part, advantage[rows], clip)
            metric = self.solver.metric(part, params)
            slope = self.gradient(loss, params, metric, policy_behaviour(part.obs), progress)
            updates, state = optimizer.update(slope.grads, state)
            return (add(params, updates, -rate), state), slope.metrics

        def unfinished(carry) -> Array:
            epoch, kl, *_ = carry
            return (epoch < self.epochs) & (kl <= stop_kl)

        def pass_over(carry):
            epoch, _, params, state, _ = carry
            order = jax.random.permutation(jax.random.fold_in(key, epoch), rows)[
                : rows // size * size
            ]
            (params, state), metrics = jax.lax.scan(
                minibatch, (params, state), order.reshape(-1, size)
            )
            kl = behaviour.divergence(here, behaviour.outputs(params))
            return epoch + 1, kl, params, state, jax.tree.map(jnp.mean, metrics)

        none = jnp.zeros((), jnp.result_type(float))
        shapes = jax.eval_shape(minibatch, (params, state), jnp.arange(size))[1]
        start = (0, none, params, state, jax.tree.map(lambda _: none, shapes))
        epochs, kl, moved, moved_state, metrics = jax.lax.while_loop(unfinished, pass_over, start)
        metrics = {"policy/kl": kl, "policy/epochs": epochs} | named("gradient", metrics)
        return moved, moved_state, metrics


def named(prefix: str, metrics: Metrics) -> Metrics:
    """The same metrics under a common prefix."""
    return {f"{prefix}/{name}": value for name, value in metrics.items()}
