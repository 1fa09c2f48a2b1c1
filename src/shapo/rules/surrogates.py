"""What a policy update minimises: importance-weighted advantages, and how far a policy has moved."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from shapo.rules import gaussian, networks
from shapo.rules.geometry import Behaviour
from shapo.rules.gradients import Loss
from shapo.rules.networks import Policy


class Samples(NamedTuple):
    """State-action pairs, flattened to B rows, with what is thought of them."""

    obs: Array
    """[B, O] normalised."""
    action: Array
    """[B, A]"""
    log_prob: Array
    """[B] under the policy that acted."""
    reward_advantage: Array
    """[B] standardised."""
    cost_advantage: Array
    """[B, C] centred."""
    side: Array
    """[B] weights, positive in one half of the environments, negative in the other, each half's sum the same: a mean
    weighted by them is what the two halves disagree about, and that is noise."""


def ratio(policy: Policy, samples: Samples) -> Array:
    """π(a|s) / π_behaviour(a|s). [B]"""
    return jnp.exp(
        gaussian.log_prob(networks.act(policy, samples.obs), samples.action) - samples.log_prob
    )


def surrogate(samples: Samples, advantage: Array) -> Loss:
    """L(π) = −E[ratio · A]: minus the expected advantage of π over the policy that acted."""
    return lambda policy: -jnp.mean(ratio(policy, samples) * advantage)


def clipped_surrogate(samples: Samples, advantage: Array, clip: Array | float) -> Loss:
    """PPO's loss: −E[min(ratio · A, clip(ratio, 1 ± clip) · A)]."""

    def loss(policy: Policy) -> Array:
        r = ratio(policy, samples)
        return -jnp.mean(jnp.minimum(r * advantage, jnp.clip(r, 1 - clip, 1 + clip) * advantage))

    return loss


def policy_behaviour(obs: Array) -> Behaviour:
    """How a policy acts in these states; two of them differ by E_s[KL(π₁‖π₂)], summed over action dimensions."""
    outputs = lambda policy: networks.act(policy, obs)
    return Behaviour(outputs, lambda p, q: jnp.mean(gaussian.divergence(p, q)))


def take(samples: Samples, rows: Array) -> Samples:
    """Some of the rows."""
    return jax.tree.map(lambda x: x[rows], samples)
