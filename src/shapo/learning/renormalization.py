"""New statistics must not change what a policy does: its first layer takes back what they change.

Without this, new statistics alone would move a policy by 0.008 nats in the first iterations, 0.02 being a whole trust
region.
"""

import jax
import jax.numpy as jnp
from jax import Array

from shapo.learning.normalization import normalize
from shapo.rollout.acting import CLIP
from shapo.rules import networks
from shapo.rules.networks import Layer, Policy

LOOKED_AT = 20
"""One moment in so many tells how far new statistics move a policy."""

Normalization = tuple[Array, Array]
"""A mean and a scale, [O] each."""


@jax.jit
def renormalized(
    policy: Policy, obs: Array, before: Normalization, after: Normalization
) -> tuple[Policy, Array]:
    """The same policy under new statistics, and the KL that is left; for observations [T, N, O]."""
    first, *rest = policy.layers
    same = policy._replace(layers=(fold(first, *line_between(obs, before, after)), *rest))
    few = obs[::LOOKED_AT]
    as_was = networks.act(policy, normalize(few, *before))
    as_is = networks.act(same, normalize(few, *after))
    return same, jnp.mean(as_was.divergence(as_is))


def fold(layer: Layer, slope: Array, shift: Array) -> Layer:
    """A layer that says of x' what the old one says of x = slope·x' + shift."""
    return Layer(layer.weight * slope[:, None], layer.bias + shift @ layer.weight)


def line_between(obs: Array, before: Normalization, after: Normalization) -> tuple[Array, Array]:
    """What observations normalised by `before` are, feature by feature, in terms of those normalised by `after`.

    x = (o − m)/s is x'·(s'/s) + (m' − m)/s where neither is clipped. Where one is, that line would go on where the old
    layer saw no difference any more, and batch by batch the weights of a feature that was constant at first, and so has
    the smallest scale there is, would grow until all that it touches is saturated. There it is the line that comes
    closest for these observations, and a shift alone where they differ by rounding alone.
    """
    (mean, scale), (new_mean, new_scale) = before, after
    rows = obs.reshape(-1, obs.shape[-1])
    x, new_x = normalize(rows, mean, scale), normalize(rows, new_mean, new_scale)
    clipped = ((jnp.abs(x) == CLIP) | (jnp.abs(new_x) == CLIP)).any(0)
    centre, new_centre = x.mean(0), new_x.mean(0)
    variance = ((new_x - new_centre) ** 2).mean(0)
    covariance = ((x - centre) * (new_x - new_centre)).mean(0)
    rounding = 10 * jnp.finfo(new_x.dtype).eps * CLIP
    varies = variance > rounding**2
    closest = jnp.where(varies, covariance / jnp.where(varies, variance, 1.0), 1.0)
    return (
        jnp.where(clipped, closest, new_scale / scale),
        jnp.where(clipped, centre - closest * new_centre, (new_mean - mean) / scale),
    )
