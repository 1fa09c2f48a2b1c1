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

    def log_prob(self, action: Array) -> Array:
        """log p(action), summed over action dimensions. [...]"""
        z = (action - self.mean) * jnp.exp(-self.log_std)
        return jnp.sum(-0.5 * z**2 - self.log_std - 0.5 * jnp.log(2 * jnp.pi), axis=-1)

    def divergence(self, other: "Gaussian") -> Array:
        """KL(p‖q), summed over action dimensions. [...]

        Σ_i log(σ_q/σ_p) + (σ_p² + (μ_p − μ_q)²) / 2σ_q² − ½

        A variance's ratio near 1 is not written as such: rounding it would be an error of 1e-7 in all states alike, as
        much as the radius of a fixed tail probability after ten million samples.
        """
        p, q = self, other
        wider = p.log_std - q.log_std
        shift = (p.mean - q.mean) * jnp.exp(-q.log_std)
        return jnp.sum(0.5 * (jnp.expm1(2 * wider) - 2 * wider + shift**2), axis=-1)

    def entropy(self) -> Array:
        """Differential entropy in nats, the same in all states."""
        return jnp.sum(self.log_std + 0.5 * jnp.log(2 * jnp.pi * jnp.e))

    def inner_products(self, products: Array) -> "Gaussian":
        """The network puts out the means; the deviations are parameters themselves."""
        return Gaussian(products, jnp.eye(self.log_std.size, dtype=self.log_std.dtype))
