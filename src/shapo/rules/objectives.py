"""What we climb: how reward and cost advantages become one advantage.

An objective has `init()`, `update(state, progress)` (see the current cost) and `advantage(state, A_r, A_c)`.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

import jax.numpy as jnp
from jax import Array

from shapo.rules.gradients import Metrics
from shapo.rules.multipliers import Ascent, Multiplier, adjusted, by_name, limits_of
from shapo.rules.schedules import Schedule, check_numbers, is_real, now
from shapo.types import Progress
from shapo.words import BadInput


class Objective(Protocol):
    """A rule that scalarises the constrained problem."""

    def init(self) -> Any:
        """The constraint's state before training."""
        ...

    def update(self, state: Any, progress: Progress) -> Any:
        """See the cost of the current policy."""
        ...

    def advantage(self, state: Any, reward_advantage: Array, cost_advantage: Array) -> Array:
        """[B] from [B] and [B, C]."""
        ...

    def metrics(self, state: Any) -> Metrics:
        """What is worth recording of the state."""
        ...


def as_limits(cost_limit: float | list[float] | tuple[float, ...]) -> tuple[float, ...]:
    """One limit per cost signal; a plain number stands for one signal."""
    limits = cost_limit if isinstance(cost_limit, list | tuple) else (cost_limit,)
    if not limits or not all(is_real(x) and 0 <= x < float("inf") for x in limits):
        raise BadInput(
            f"cost_limit={cost_limit!r}: give a finite number >= 0, or a tuple of them, one per cost signal"
        )
    return tuple(map(float, limits))


def one_limit(cost_limit: float | list[float] | tuple[float, ...], algorithm: str) -> float:
    """The limit of an algorithm that takes one cost only."""
    limit, *more = as_limits(cost_limit)
    if more:
        raise BadInput(
            f"{algorithm}(cost_limit={cost_limit!r}): {algorithm.upper()} takes one cost; "
            "all algorithms but cpo and pcpo take several"
        )
    return limit


@dataclass(frozen=True)
class RewardOnly:
    """A = A_r: costs are ignored."""

    def init(self) -> tuple[()]:
        """Nothing to remember."""
        return ()

    def update(self, state: tuple[()], progress: Progress) -> tuple[()]:
        """Nothing to learn."""
        return ()

    def advantage(self, state: tuple[()], reward_advantage: Array, cost_advantage: Array) -> Array:
        """A_r."""
        return reward_advantage

    def metrics(self, state: tuple[()]) -> Metrics:
        """None."""
        return {}


@dataclass(frozen=True)
class Lagrangian:
    """A = (A_r − Σ λ_c A_c) / (1 + Σ λ_c), with λ by a multiplier rule."""

    cost_limit: tuple[float, ...]
    multiplier: Multiplier = field(default_factory=Ascent)

    def init(self) -> Any:
        """The multiplier's state."""
        return self.multiplier.init(len(self.cost_limit))

    def update(self, state: Any, progress: Progress) -> Any:
        """Adjust λ to the cost of the current policy, once that is known."""
        return adjusted(self.multiplier, state, progress, self.cost_limit)

    def advantage(self, state: Any, reward_advantage: Array, cost_advantage: Array) -> Array:
        """The Lagrangian's advantage, scaled to stay comparable as λ grows."""
        multiplier = self.multiplier.value(state)
        return (reward_advantage - cost_advantage @ multiplier) / (1 + multiplier.sum())

    def metrics(self, state: Any) -> Metrics:
        """λ, numbered where there are several."""
        return by_name(self.multiplier.value(state))


@dataclass(frozen=True)
class Unscaled:
    """A = A_r − Σ λ_c A_c: a Lagrangian whose reward keeps its size, for steps to which that matters (FOCOPS)."""

    lagrangian: Lagrangian

    def init(self) -> Any:
        """The multiplier's state."""
        return self.lagrangian.init()

    def update(self, state: Any, progress: Progress) -> Any:
        """Adjust λ to the cost of the current policy."""
        return self.lagrangian.update(state, progress)

    def advantage(self, state: Any, reward_advantage: Array, cost_advantage: Array) -> Array:
        """The Lagrangian's advantage as it is."""
        return reward_advantage - cost_advantage @ self.lagrangian.multiplier.value(state)

    def metrics(self, state: Any) -> Metrics:
        """λ, numbered where there are several."""
        return self.lagrangian.metrics(state)


@dataclass(frozen=True)
class Switching:
    """CRPO: A = A_r while every cost is within its limit, else −A_c of the cost that exceeds its limit most."""

    cost_limit: tuple[float, ...]
    tolerance: float | Schedule = 0.0

    def __post_init__(self):
        check_numbers(self, "tolerance")

    def init(self) -> Array:
        """The excess of each cost over its limit, [C]."""
        return jnp.full(len(self.cost_limit), -jnp.inf)

    def update(self, state: Array, progress: Progress) -> Array:
        """J_c − limit − tolerance, once J_c is known."""
        excess = jnp.asarray(progress.episode_cost) - limits_of(progress, self.cost_limit)
        excess = excess - now(self.tolerance, progress)
        return jnp.where(progress.cost_is_known, excess, -jnp.inf)

    def advantage(self, state: Array, reward_advantage: Array, cost_advantage: Array) -> Array:
        """A_r, or minus the advantage of the most violated cost."""
        return jnp.where(state.max() > 0, -cost_advantage[:, state.argmax()], reward_advantage)

    def metrics(self, state: Array) -> Metrics:
        """Whether this update reduces cost (1) or climbs reward (0)."""
        return {"reduces_cost": (state.max() > 0).astype(jnp.result_type(float))}
