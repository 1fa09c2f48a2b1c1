"""How far we go, CUP's answer: climb first, then correct what it costs."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from shapo.rules.epochs import moved_from
from shapo.rules.gradients import Metrics
from shapo.rules.multipliers import Bounded, Multiplier, by_name
from shapo.rules.networks import Policy
from shapo.rules.steps import Step, named
from shapo.rules.surrogates import Samples, policy_behaviour
from shapo.types import Progress


class CorrectedState(NamedTuple):
    """What the two steps and the multiplier remember."""

    climb: Any
    correct: Any
    multiplier: Any


@dataclass(frozen=True)
class Corrected:
    """One step up the advantage, and a second one, from there, down the costs at the price of a multiplier.

    While the price is 0 there is no second step. The objective is the first step's alone: `RewardOnly`, as published.
    """

    climb: Step
    correct: Step
    """As published, `Epochs(loss=Anchored())`."""
    cost_limit: tuple[float, ...]
    multiplier: Multiplier = field(default_factory=Bounded)
    weight: float = 1.0
    """Of a step's cost, beside the multiplier."""

    def init(self, params: Policy) -> CorrectedState:
        """All three states."""
        return CorrectedState(
            self.climb.init(params),
            self.correct.init(params),
            self.multiplier.init(len(self.cost_limit)),
        )

    def update(
        self,
        params: Policy,
        state: CorrectedState,
        samples: Samples,
        advantage: Array,
        progress: Progress,
        key: Array,
    ) -> tuple[Policy, CorrectedState, Metrics]:
        """Climb, then correct."""
        climbed, climb, metrics = self.climb.update(
            params, state.climb, samples, advantage, progress, key
        )
        multiplier = self.multiplier.update(
            state.multiplier, jnp.asarray(progress.episode_cost), jnp.array(self.cost_limit)
        )
        price = self.multiplier.value(multiplier)
        cheaper = -self.weight * samples.cost_advantage @ price

        def correct() -> Any:
            return self.correct.update(
                climbed, state.correct, samples, cheaper, progress, jax.random.fold_in(key, 1)
            )

        def leave() -> Any:
            *_, shapes = jax.eval_shape(correct)
            none = jax.tree.map(lambda each: jnp.zeros(each.shape, each.dtype), shapes)
            return climbed, state.correct, none

        corrected, memory, found = jax.lax.cond(jnp.any(price > 0), correct, leave)
        apart = moved_from(params, policy_behaviour(samples.obs))(corrected)
        metrics |= {"policy/kl": apart} | named("policy", by_name(price))
        metrics |= {_renamed(name): value for name, value in found.items()}
        return corrected, CorrectedState(climb, memory, multiplier), metrics


def _renamed(name: str) -> str:
    """What the correction calls its policy and gradient, beside the climb's."""
    return name.replace("policy/", "correction/").replace("gradient/", "gradient_cost/")
