"""Lagrange multipliers: how strongly each cost weighs against the reward.

A multiplier has `init(costs)`, `update(state, episode_cost, limit)` and `value(state)`, one number per cost signal.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import jax.numpy as jnp
import optax
from jax import Array

from shapo.rules.gradients import Metrics
from shapo.rules.schedules import check_numbers
from shapo.rules.trees import add, where
from shapo.types import Progress
from shapo.words import BadInput, counted


class Multiplier(Protocol):
    """A rule that turns constraint violations into weights ≥ 0."""

    def init(self, costs: int) -> Any:
        """The state for so many cost signals."""
        ...

    def update(self, state: Any, episode_cost: Array, limit: Array) -> Any:
        """See the cost of the current policy."""
        ...

    def value(self, state: Any) -> Array:
        """λ ≥ 0, [C]."""
        ...


def limits_of(progress: Progress, cost_limit: tuple[float, ...]) -> Array:
    """The limit of each cost, [C]; BadInput unless there are as many as costs."""
    if len(cost_limit) != len(progress.episode_cost):
        raise BadInput(
            f"cost_limit={cost_limit}: the environment has {counted(len(progress.episode_cost), 'cost signal')}; "
            "give the algorithm one limit for each"
        )
    return jnp.array(cost_limit)


def adjusted(
    multiplier: Multiplier, state: Any, progress: Progress, cost_limit: tuple[float, ...]
) -> Any:
    """Its state once it has seen the cost of the current policy; the same as before as long as that is not known."""
    limits = limits_of(progress, cost_limit)
    seen = multiplier.update(state, jnp.asarray(progress.episode_cost), limits)
    return where(progress.cost_is_known, seen, state)


def by_name(values: Array) -> Metrics:
    """λ as metrics, numbered where there are several."""
    if len(values) == 1:
        return {"multiplier": values[0]}
    return {f"multiplier_{i + 1}": value for i, value in enumerate(values)}


class AscentState(NamedTuple):
    """λ and Adam's memory of it."""

    multiplier: Array
    optimizer: optax.OptState


@dataclass(frozen=True)
class Ascent:
    """Projected gradient ascent by Adam: λ ← max(0, λ + Adam(J_c − limit))."""

    initial: float = 0.001
    rate: float = 0.035

    def __post_init__(self):
        check_numbers(self, "initial", "rate")

    def init(self, costs: int) -> AscentState:
        """λ = initial for every cost."""
        multiplier = jnp.full(costs, self.initial)
        return AscentState(multiplier, optax.adam(self.rate).init(multiplier))

    def update(self, state: AscentState, episode_cost: Array, limit: Array) -> AscentState:
        """One ascent step."""
        step, optimizer = optax.adam(self.rate).update(-(episode_cost - limit), state.optimizer)
        return AscentState(jnp.maximum(0.0, add(state.multiplier, step)), optimizer)

    def value(self, state: AscentState) -> Array:
        """λ, [C]."""
        return state.multiplier


class PidState(NamedTuple):
    """What the controller remembers, [C] each."""

    integral: Array
    proportional: Array
    cost_average: Array
    past: Array
    """[delay, C] earlier cost averages, oldest first."""
    multiplier: Array


@dataclass(frozen=True)
class Pid:
    """PID control of the multiplier (Stooke et al., 2020).

    Δ = J_c − limit
    I ← max(0, I + K_i Δ),   P ← 0.95 P + 0.05 Δ,   D̄ ← 0.95 D̄ + 0.05 J_c
    λ = max(0, K_p P + I + K_d max(0, D̄ − D̄ of `delay` updates ago))
    """

    initial: float = 0.001
    """First integral term."""
    kp: float = 0.1
    ki: float = 0.01
    kd: float = 0.01
    proportional_memory: float = 0.95
    derivative_memory: float = 0.95
    delay: int = 10

    def __post_init__(self):
        check_numbers(self, "initial", "kp", "ki", "kd", "proportional_memory", "derivative_memory")
        check_numbers(self, "delay", positive=True)

    def init(self, costs: int) -> PidState:
        """Nothing seen yet."""
        zero = jnp.zeros(costs)
        return PidState(
            zero + self.initial, zero, zero, jnp.zeros((self.delay, costs)), zero + self.initial
        )

    def update(self, state: PidState, episode_cost: Array, limit: Array) -> PidState:
        """One control step."""
        error = episode_cost - limit
        p, d = self.proportional_memory, self.derivative_memory
        integral = jnp.maximum(0.0, state.integral + self.ki * error)
        proportional = p * state.proportional + (1 - p) * error
        cost_average = d * state.cost_average + (1 - d) * episode_cost
        rise = jnp.maximum(0.0, cost_average - state.past[0])
        multiplier = jnp.maximum(0.0, self.kp * proportional + integral + self.kd * rise)
        past = jnp.concatenate([state.past[1:], cost_average[None]])
        return PidState(integral, proportional, cost_average, past, multiplier)

    def value(self, state: PidState) -> Array:
        """λ, [C]."""
        return state.multiplier


@dataclass(frozen=True)
class Bounded:
    """Projected gradient ascent: λ ← λ + rate · (J_c − limit), kept within 0 and `most` (FOCOPS, CUP)."""

    initial: float = 0.001
    rate: float = 0.01
    most: float = 2.0

    def __post_init__(self):
        check_numbers(self, "initial", "rate", "most")

    def init(self, costs: int) -> Array:
        """λ = initial for every cost."""
        return jnp.full(costs, self.initial)

    def update(self, state: Array, episode_cost: Array, limit: Array) -> Array:
        """One ascent step."""
        return jnp.clip(state + self.rate * (episode_cost - limit), 0.0, self.most)

    def value(self, state: Array) -> Array:
        """λ, [C]."""
        return state


@dataclass(frozen=True)
class Barrier:
    """The slope of a logarithmic barrier (IPO): λ = 1 / (sharpness · (limit − J_c)), but at most `most`.

    It has no memory. The barrier is infinite at the limit and not defined beyond; there it goes on as the straight line
    that it has become where its slope is `most`, so that a policy beyond the limit finds its way back.
    """

    sharpness: float = 20.0
    most: float = 10.0

    def __post_init__(self):
        check_numbers(self, "sharpness", "most", positive=True)

    def init(self, costs: int) -> Array:
        """λ = 0: no cost has been seen."""
        return jnp.zeros(costs)

    def update(self, state: Array, episode_cost: Array, limit: Array) -> Array:
        """The slope at this cost."""
        least = 1 / (self.sharpness * self.most)
        return 1 / (self.sharpness * jnp.maximum(limit - episode_cost, least))

    def value(self, state: Array) -> Array:
        """λ, [C]."""
        return state
