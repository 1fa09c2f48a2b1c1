"""How far we go, CUP's answer: climb first, then correct what it costs, but not further than a batch can be believed.

The correction's own price of distance does not bound it: at ν = 2 and published weights its minimum is several nats
away, and what a batch says of the cost there is noise. On PointGoal1 it went half a nat in every iteration and
unlearned all that the climbs had learned.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from shapo.rules.epochs import moved_from
from shapo.rules.geometry import backtrack
from shapo.rules.gradients import Metrics
from shapo.rules.multipliers import Bounded, Multiplier, adjusted, by_name
from shapo.rules.networks import Policy
from shapo.rules.schedules import Schedule, check_numbers, now
from shapo.rules.steps import Step, named
from shapo.rules.surrogates import Samples, policy_behaviour
from shapo.rules.trees import add
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
    region: float | Schedule = 0.1
    """How far the second step may lead from where the first ended, in nats of KL; it is shortened to that. Of cost a
    batch says less than of reward, so a correction as short as the climb loses to it."""
    trials: int = 20
    """At most so many shortenings by 0.8."""

    def __post_init__(self):
        check_numbers(self, "weight")
        check_numbers(self, "region", positive=True)

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
        multiplier = adjusted(self.multiplier, state.multiplier, progress, self.cost_limit)
        price = self.multiplier.value(multiplier)
        cheaper = -self.weight * samples.cost_advantage @ price

        behaviour, region = policy_behaviour(samples.obs), now(self.region, progress)

        def correct() -> Any:
            aim, memory, found = self.correct.update(
                climbed, state.correct, samples, cheaper, progress, jax.random.fold_in(key, 1)
            )
            near = backtrack(
                climbed,
                add(aim, climbed, -1.0),
                evaluate=moved_from(climbed, behaviour),
                accept=lambda kl: kl <= region,
                trials=self.trials,
            )
            kl = jnp.where(near.fraction > 0, near.found, 0.0)
            found |= {"policy/kl": kl, "policy/fraction": near.fraction}
            return near.params, memory, found

        def leave() -> Any:
            *_, shapes = jax.eval_shape(correct)
            none = jax.tree.map(lambda each: jnp.zeros(each.shape, each.dtype), shapes)
            return climbed, state.correct, none

        corrected, memory, found = jax.lax.cond(jnp.any(price > 0), correct, leave)
        apart = moved_from(params, behaviour)(corrected)
        metrics |= {"policy/kl": apart} | named("policy", by_name(price))
        metrics |= {_renamed(name): value for name, value in found.items()}
        return corrected, CorrectedState(climb, memory, multiplier), metrics


def _renamed(name: str) -> str:
    """What the correction calls its policy and gradient, beside the climb's."""
    return name.replace("policy/", "correction/").replace("gradient/", "gradient_cost/")
