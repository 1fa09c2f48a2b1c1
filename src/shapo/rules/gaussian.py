"""The diagonal Gaussian distribution over actions."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array


class Gaussian(NamedTuple):
    """N(mean, diag(exp(log_std)²)), independent over action dimensions."""

    mean: Array
    """[..., A]"""
    log_std: Array
    """[A], shared by all states."""


def log_prob(p: Gaussian, action: Array) -> Array:
    """log p(action), summed over action dimensions. [...]"""
    z = (action - p.mean) * jnp.exp(-p.log_std)
    return jnp.sum(-0.5 * z**2 - p.log_std - 0.5 * jnp.log(2 * jnp.pi), axis=-1)


def divergence(p: Gaussian, q: Gaussian) -> Array:
    """KL(p‖q), summed over action dimensions. [...]

    Σ_i log(σ_q/σ_p) + (σ_p² + (μ_p − μ_q)²) / 2σ_q² − ½
    """
    variance_ratio = jnp.exp(2 * (p.log_std - q.log_std))
    shift = (p.mean - q.mean) * jnp.exp(-q.log_std)
    return jnp.sum(q.log_std - p.log_std + 0.5 * (variance_ratio + shift**2 - 1), axis=-1)


def entropy(p: Gaussian) -> Array:
    """Differential entropy in nats."""
    return jnp.sum(p.log_std + 0.5 * jnp.log(2 * jnp.pi * jnp.e))
