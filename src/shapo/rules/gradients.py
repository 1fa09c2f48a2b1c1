"""Where the slope is measured: here, or at the worst point nearby. This file and `geometry` are the paper.

A gradient rule replaces `jax.value_and_grad`: the value is the one at the parameters, the gradient may come from
somewhere else. Every loss is minimised, so the worst nearby point is always uphill.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jax import Array

from shapo.rules import trees
from shapo.rules.geometry import Behaviour, Metric, backtrack, euclidean, steepest
from shapo.rules.schedules import Schedule, check_numbers, implied_alpha, now
from shapo.rules.solving import Guess
from shapo.rules.trees import Tree
from shapo.types import Progress
from shapo.words import BadInput

Loss = Callable[[Tree], Array]
Metrics = dict[str, Array]


class Slope(NamedTuple):
    """What a gradient rule found."""

    value: Array
    """The loss at the parameters themselves."""
    grads: Tree
    """Its gradient, where the rule measures it."""
    natural: Guess | None
    """M⁻¹ times a similar gradient if the rule had to solve for one: where the next solve may start."""
    metrics: Metrics


class Gradient(Protocol):
    """A rule for where to measure the slope."""

    def __call__(
        self, loss: Loss, params: Tree, metric: Metric, behaviour: Behaviour, progress: Progress
    ) -> Slope:
        """Value at `params`, gradient where the rule says. `metric` and `behaviour` are anchored at `params`."""
        ...


def slope_by(
    rule: Gradient,
    loss: Loss,
    params: Tree,
    metric: Metric,
    behaviour: Behaviour,
    progress: Progress,
) -> Slope:
    """What a rule finds; it may be somebody's own."""
    slope = rule(loss, params, metric, behaviour, progress)
    if not isinstance(slope, Slope):
        raise BadInput(
            f"the gradient rule {rule!r} returned a {type(slope).__name__}; "
            f"return a shapo.Slope({', '.join(Slope._fields)})"
        )
    return slope


@dataclass(frozen=True)
class Plain:
    """The gradient at the parameters: what every algorithm does without SHAPO."""

    def __call__(
        self, loss: Loss, params: Tree, metric: Metric, behaviour: Behaviour, progress: Progress
    ) -> Slope:
        value, grads = jax.value_and_grad(loss)(params)
        return Slope(value, grads, None, {})


@dataclass(frozen=True)
class Sam:
    """The gradient at the worst *parameters* within Euclidean distance rho: ∇L(θ + ρ g/‖g‖).

    On a critic this is sharpness-aware minimisation (Foret et al., 2021); on the actor, the paper's E-SAM.
    """

    rho: float | Schedule

    def __post_init__(self):
        check_numbers(self, "rho")

    def __call__(
        self, loss: Loss, params: Tree, metric: Metric, behaviour: Behaviour, progress: Progress
    ) -> Slope:
        value, grads = jax.value_and_grad(loss)(params)
        ascent = steepest(grads, euclidean(), now(self.rho, progress) ** 2 / 2)
        worst_value, worst_grads = jax.value_and_grad(loss)(trees.add(params, ascent.move))
        metrics = {"increase": worst_value - value, "cosine": trees.cosine(grads, worst_grads)}
        return Slope(value, worst_grads, None, metrics)


class Worst(NamedTuple):
    """A policy nearby, and the slope there."""

    divergence: Array
    value: Array
    grads: Tree


@dataclass(frozen=True)
class Shapo:
    """The gradient at the worst *policy* within KL `radius`: g̃ = ∇L(θ + ε), ε = U_F(∇L, radius).

    ε climbs the loss along the natural gradient F⁻¹g and is shortened until the divergence it really causes is within
    the radius; if no trial is, the slope is measured at θ, and `gradient/fraction` is 0.
    """

    radius: float | Schedule
    """δ_down, in nats of KL summed over action dimensions; a number or one of `shapo.rules.schedules`."""
    tolerance: float = 0.05
    """Relative residual of the solve for ε. It may be loose: the update's own solve goes on from it."""
    trials: int = 10
    """At most so many shortenings by 0.8."""

    def __post_init__(self):
        check_numbers(self, "radius")

    def __call__(
        self, loss: Loss, params: Tree, metric: Metric, behaviour: Behaviour, progress: Progress
    ) -> Slope:
        radius = jnp.asarray(now(self.radius, progress), jnp.result_type(float))
        value, grads = jax.value_and_grad(loss)(params)
        ascent = steepest(grads, metric, radius, tolerance=self.tolerance)
        here = behaviour.outputs(params)
        # The first trial is nearly always the last, so its slope is measured in the same pass as its divergence.
        worst = backtrack(
            params,
            ascent.move,
            evaluate=lambda candidate: Worst(
                behaviour.divergence(here, behaviour.outputs(candidate)),
                *jax.value_and_grad(loss)(candidate),
            ),
            accept=lambda found: found.divergence <= radius,
            trials=self.trials,
        )
        found = worst.fraction > 0
        worst_value = jnp.where(found, worst.found.value, value)
        worst_grads = trees.where(found, worst.found.grads, grads)
        metrics = {
            "radius": radius,
            "alpha": implied_alpha(radius, jnp.asarray(progress.samples)),
            "kl": jnp.where(found, worst.found.divergence, 0.0),
            "increase": worst_value - value,
            "cosine": trees.cosine(grads, worst_grads),
            "fraction": worst.fraction,
            "distance": jnp.where(found, worst.fraction * trees.norm(ascent.move), 0.0),
            "residual": ascent.residual,
        }
        return Slope(value, worst_grads, ascent.natural, metrics)
