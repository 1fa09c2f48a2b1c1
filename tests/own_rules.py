"""What a user might write in a file of their own: a gradient rule, an algorithm, a schedule and a cost."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from shapo.algorithms import trpo
from shapo.rules import trees
from shapo.rules.geometry import steepest
from shapo.rules.gradients import Plain, Slope


@dataclass(frozen=True)
class LookAhead:
    """The slope at the best policy nearby, instead of the worst."""

    radius: float = 2e-4

    def __call__(self, loss, params, metric, behaviour, progress):
        value, grads = jax.value_and_grad(loss)(params)
        descent = steepest(grads, metric, self.radius)
        ahead = jax.grad(loss)(trees.add(params, descent.move, -1.0))
        return Slope(value, ahead, descent.natural, {"cosine": trees.cosine(grads, ahead)})


@dataclass(frozen=True)
class Lost:
    """A rule that divides by zero."""

    def __call__(self, loss, params, metric, behaviour, progress):
        value, grads = jax.value_and_grad(loss)(params)
        return Slope(value, trees.scale(jnp.nan, grads), None, {})


def bold(gradient, cost_limit, radius=0.5):
    """TRPO with long steps."""
    assert isinstance(cost_limit, tuple)
    return trpo(radius=radius, gradient=gradient)


def timid():
    """TRPO that nobody can give a rule."""
    return trpo(radius=1e-3, gradient=Plain())


def when_needed(radius=1e-3):
    """Pessimistic only while the cost is too high."""
    return lambda progress: jnp.where(progress.episode_cost[0] > 1.0, radius, 0.0)


def too_fast(obs, action, info, limit=4.0):
    """A pendulum's cost."""
    return float(abs(obs[2]) > limit)


@dataclass(frozen=True)
class Louder:
    """The plain slope, so many times as steep."""

    factor: float

    def __call__(self, loss, params, metric, behaviour, progress):
        value, grads = jax.value_and_grad(loss)(params)
        return Slope(value, trees.scale(self.factor, grads), None, {})


@dataclass(frozen=True)
class Pair:
    """What `jax.value_and_grad` returns, which is no slope."""

    def __call__(self, loss, params, metric, behaviour, progress):
        return jax.value_and_grad(loss)(params)


def nothing():
    """No rule at all."""


NOT_A_FACTORY = 3
