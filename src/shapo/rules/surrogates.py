"""What a policy update minimises: importance-weighted advantages, and how far a policy has moved."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from shapo.rules import networks
from shapo.rules.geometry import Behaviour
from shapo.rules.gradients import Loss
from shapo.rules.networks import Policy
from shapo.rules.trees import identity


class Samples(NamedTuple):
    """State-action pairs, flattened to B rows, with what is thought of them."""

    obs: Array
    """[B, O] normalised."""
    action: Array
    """[B, A]; a choice is one number."""
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
    return jnp.exp(networks.act(policy, samples.obs).log_prob(samples.action) - samples.log_prob)


def surrogate(samples: Samples, advantage: Array) -> Loss:
    """L(π) = −E[ratio · A]: minus the expected advantage of π over the policy that acted."""
    return lambda policy: -jnp.mean(ratio(policy, samples) * advantage)


def clipped_surrogate(samples: Samples, advantage: Array, clip: Array | float) -> Loss:
    """PPO's loss: −E[min(ratio · A, clip(ratio, 1 ± clip) · A)]."""

    def loss(policy: Policy) -> Array:
        r = ratio(policy, samples)
        return -jnp.mean(jnp.minimum(r * advantage, jnp.clip(r, 1 - clip, 1 + clip) * advantage))

    return loss


def policy_behaviour(obs: Array, policy: Callable[[Any], Policy] = identity) -> Behaviour:
    """How a policy acts in these states; two of them differ by E_s[KL(π₁‖π₂)], summed over action dimensions.

    `policy` makes one of the parameters, where these are not a policy themselves.
    """
    outputs = lambda params: networks.act(policy(params), obs)
    return Behaviour(outputs, lambda p, q: jnp.mean(p.divergence(q)))


def policy_gram(policy: Policy, obs: Array) -> Any:
    """Inner products of the gradients of everything that `policy_behaviour` puts out, for `gram.exact_fisher`."""
    return networks.act(policy, obs).inner_products(networks.gram(policy.layers, obs))


def take(samples: Any, rows: Array) -> Any:
    """Some of the rows of every array."""
    return jax.tree.map(lambda x: x[rows], samples)
