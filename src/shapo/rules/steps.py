"""How far we go: a natural gradient step, with a line search or without. (PPO's answer is in `epochs`.)

A step has `init(params)` and `update(params, state, samples, advantage, progress, key)`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from shapo.rules.geometry import Metric, backtrack, fisher, steepest
from shapo.rules.gradients import Gradient, Metrics, Plain, slope_by
from shapo.rules.gram import LEAST_DAMPING, MOST_OUTPUTS, exact_fisher
from shapo.rules.networks import Policy
from shapo.rules.schedules import Schedule, check_numbers, now
from shapo.rules.surrogates import Samples, policy_behaviour, policy_gram, surrogate
from shapo.rules.trees import Tree, identity, scale
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

    def __post_init__(self):
        check_numbers(self, "damping", "tolerance")
        check_numbers(self, "iterations", "thinning", positive=True)

    def metric(
        self, samples: Samples, params: Tree, policy: Callable[[Tree], Policy] = identity
    ) -> Metric:
        """The metric anchored at `params`, of which `policy` makes a policy."""
        rows, behaviour = len(samples.obs), policy_behaviour(samples.obs, policy)
        outputs = rows * jax.eval_shape(policy, params).layers[-1].bias.size
        if self.damping >= LEAST_DAMPING and outputs <= MOST_OUTPUTS:
            gram = policy_gram(policy(params), samples.obs)
            return exact_fisher(behaviour, gram, params, self.damping)
        sketch = None
        if self.thinning > 1 and rows >= SKETCH_STATES * self.thinning:
            sketch = policy_behaviour(samples.obs[thinned(rows, self.thinning)], policy)
        return fisher(
            behaviour,
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


class Tried(NamedTuple):
    """What a line search knows of a point."""

    loss: Array
    kl: Array


@dataclass(frozen=True)
class LineSearch:
    """Shorten the step by 0.8 until L(θ') ≤ L(θ) and KL(π‖π') ≤ radius; if it never is, θ stays."""

    trials: int = 15

    def accepts(self, found: Tried, value: Array, radius: Array | float) -> Array:
        """Whether a step may end there that began at a loss of `value`."""
        return (found.loss <= value) & (found.kl <= radius)


@dataclass(frozen=True)
class Unsearched:
    """No second look: the KL that a step really causes may be a little more, and the loss may rise.

    But a step that is not finite is not taken.
    """

    trials: ClassVar[int] = 1

    def accepts(self, found: Tried, value: Array, radius: Array | float) -> Array:
        """Whether it is anywhere at all."""
        return jnp.isfinite(found.kl)


@dataclass(frozen=True)
class TrustRegion:
    """TRPO: the steepest step within KL `radius`, shortened until the unperturbed loss does not rise.

    θ ← θ − κ·U_F(g̃, radius), with κ by `search`; `policy/fraction` is κ, and 0 where θ stays.
    """

    radius: float | Schedule
    """δ_up, in nats of KL summed over action dimensions; a number or a function of progress."""
    gradient: Gradient = field(default_factory=Plain)
    solver: FisherSolver = field(default_factory=FisherSolver)
    search: LineSearch | Unsearched = LineSearch()

    def __post_init__(self):
        check_numbers(self, "radius", positive=True)

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
        radius, behaviour = now(self.radius, progress), policy_behaviour(samples.obs)
        loss, metric = surrogate(samples, advantage), self.solver.metric(samples, params)
        slope = slope_by(self.gradient, loss, params, metric, behaviour, progress)
        descent = steepest(slope.grads, metric, radius, guess=slope.natural)
        here = behaviour.outputs(params)
        moved = backtrack(
            params,
            scale(-1.0, descent.move),
            evaluate=lambda p: Tried(loss(p), behaviour.divergence(here, behaviour.outputs(p))),
            accept=lambda found: self.search.accepts(found, slope.value, radius),
            trials=self.search.trials,
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


def named(prefix: str, metrics: Metrics) -> Metrics:
    """The same metrics under a common prefix."""
    return {f"{prefix}/{name}": value for name, value in metrics.items()}
