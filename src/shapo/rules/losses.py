"""What epochs of minibatches minimise: each loss has its own way to stop paying for moving too far."""

from dataclasses import dataclass
from typing import Protocol

import jax.numpy as jnp
from jax import Array

from shapo.rules import networks
from shapo.rules.gradients import Loss
from shapo.rules.multipliers import limits_of
from shapo.rules.networks import Policy
from shapo.rules.schedules import Schedule, check_numbers, now
from shapo.rules.surrogates import Samples, clipped_surrogate, ratio
from shapo.types import Progress


class MinibatchLoss(Protocol):
    """A rule that makes a loss of some rows."""

    def __call__(self, part: Samples, advantage: Array, start: Policy, progress: Progress) -> Loss:
        """The loss of a policy on `part`; `start` is the policy with which the epochs began."""
        ...


@dataclass(frozen=True)
class Clipped:
    """PPO: the surrogate, but a probability ratio counts only within 1 ± `clip`."""

    clip: float | Schedule = 0.2

    def __post_init__(self):
        check_numbers(self, "clip", positive=True)

    def __call__(self, part: Samples, advantage: Array, start: Policy, progress: Progress) -> Loss:
        return clipped_surrogate(part, advantage, now(self.clip, progress))


@dataclass(frozen=True)
class FirstOrder:
    """FOCOPS: come close to the best policy near the start, in the states where the policy has not yet gone too far.

    The best policy is π*(a|s) ∝ π₀(a|s) exp(A/temperature), and minimising E_s[KL(π‖π*)] is minimising

        E[KL(π‖π₀)[s] − ratio · A / temperature],   over the states where KL(π‖π₀)[s] ≤ region
    """

    temperature: float = 1.5
    """The price of a nat of KL, in units of the advantage."""
    region: float | Schedule = 0.02
    """In nats, summed over action dimensions."""

    def __post_init__(self):
        check_numbers(self, "temperature", "region", positive=True)

    def __call__(self, part: Samples, advantage: Array, start: Policy, progress: Progress) -> Loss:
        before = networks.act(start, part.obs)

        def loss(policy: Policy) -> Array:
            moved = networks.act(policy, part.obs).divergence(before)
            near = moved <= now(self.region, progress)
            gain = ratio(policy, part) * advantage / self.temperature
            return jnp.mean(jnp.where(near, moved - gain, 0.0))

        return loss


@dataclass(frozen=True)
class Anchored:
    """CUP's projection: gain where it is worth the distance from the start, E[KL(π₀‖π)] − E[ratio · A].

    With A = −νA_c that is the policy nearest to the start, cost counted at the price ν.
    """

    def __call__(self, part: Samples, advantage: Array, start: Policy, progress: Progress) -> Loss:
        before = networks.act(start, part.obs)

        def loss(policy: Policy) -> Array:
            moved = before.divergence(networks.act(policy, part.obs))
            return jnp.mean(moved - ratio(policy, part) * advantage)

        return loss


@dataclass(frozen=True)
class Penalised:
    """P3O: PPO's loss plus what the policy's cost is expected to exceed its limit by, at a price of `weight`.

        L + weight · Σ_c max(0, E[max(ratio · A_c, clip(ratio, 1 ± clip) · A_c)] + (J_c − limit) / (T · believed))

    The penalty is exact: where `weight` is above the constraint's multiplier, the minimum is the constrained one. As in
    `Cpo` the excess is per step of an episode's T, because A_c is; and as A_c has mean 0 in the batch, what a minibatch
    differs from that is noise and left out, or the penalty would set in by lot.
    """

    cost_limit: tuple[float, ...]
    weight: float | Schedule = 20.0
    clip: float | Schedule = 0.2
    believed: float = 0.1
    """How much of what a policy promises of its own batch's cost is expected of the next batch, too: the rest is noise
    that it has learned by heart. 1 takes it at its word, as published; then the promise is soon made, the penalty ends,
    and the cost stays where it was."""

    def __post_init__(self):
        check_numbers(self, "weight")
        check_numbers(self, "clip", "believed", positive=True)

    def __call__(self, part: Samples, advantage: Array, start: Policy, progress: Progress) -> Loss:
        clip = now(self.clip, progress)
        reward_loss, cost = clipped_surrogate(part, advantage, clip), part.cost_advantage
        excess = jnp.asarray(progress.episode_cost) - limits_of(progress, self.cost_limit)
        per_step = excess / (progress.episode_length * self.believed)

        def loss(policy: Policy) -> Array:
            r = ratio(policy, part)[:, None]
            rise = jnp.mean(jnp.maximum(r * cost, jnp.clip(r, 1 - clip, 1 + clip) * cost) - cost, 0)
            over = jnp.maximum(rise + per_step, 0.0)
            return reward_loss(policy) + now(self.weight, progress) * over.sum()

        return loss
