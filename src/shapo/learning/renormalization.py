"""New statistics must not change what a policy does: its first layer takes back what they change."""

import jax
import jax.numpy as jnp
from jax import Array

from shapo.learning.normalization import fold, normalize
from shapo.rules import networks
from shapo.rules.networks import Layer, Policy


@jax.jit
def renormalized(
    policy: Policy, obs: Array, before: tuple[Array, Array], after: tuple[Array, Array]
) -> tuple[Policy, Array]:
    """The same policy under new statistics, and the KL that is left because observations are clipped."""
    first, *rest = policy.layers
    same = policy._replace(layers=(Layer(*fold(*first, before, after)), *rest))
    as_was = networks.act(policy, normalize(obs, *before))
    as_is = networks.act(same, normalize(obs, *after))
    return same, jnp.mean(as_was.divergence(as_is))
