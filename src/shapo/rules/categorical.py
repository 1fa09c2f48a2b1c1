"""The categorical distribution over actions that are choices."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array


class Categorical(NamedTuple):
    """One of n choices."""

    log_probs: Array
    """[..., n] their logarithms: normalised, so no two networks that choose alike differ here."""

    @classmethod
    def of(cls, logits: Array) -> "Categorical":
        """p ∝ exp(logits), [..., n]."""
        return cls(jax.nn.log_softmax(logits))

    def log_prob(self, action: Array) -> Array:
        """log p(action) of choices by number, [..., 1]. [...]"""
        # To compare is quicker than to look up, whose derivative scatters row by row.
        chosen = action == jnp.arange(self.log_probs.shape[-1])
        return jnp.sum(jnp.where(chosen, self.log_probs, 0.0), axis=-1)

    def divergence(self, other: "Categorical") -> Array:
        """KL(p‖q) [...], in the form that holds for measures of any mass: Σ_i q_i − p_i + p_i log(p_i/q_i).

        Both masses are 1, so it is the same number; but its Hessian in log q is diag(q) rather than 0. With the
        Jacobian J of the log-probabilities, Jᵀ diag(p) J = E[∇log p ∇log pᵀ] is the Fisher matrix; in terms of logits
        the matrix between would be diag(p) − ppᵀ, which is neither diagonal nor regular.

        Where q is near p, q − p is not written as such: rounding it is an error that is the same in all states where
        the policy is, as the first one is everywhere, and as much as the radius of a fixed tail probability.
        """
        p, q = self.log_probs, other.log_probs
        more, share = q - p, jnp.exp(p)
        near = jnp.abs(more) < 1
        # What is far would be infinite in the first form, and its slope not a number.
        little = jnp.where(near, more, 0.0)
        terms = jnp.where(
            near, share * (jnp.expm1(little) - little), jnp.exp(q) - share - share * more
        )
        return jnp.sum(terms, axis=-1)

    def entropy(self) -> Array:
        """In nats, the mean over all states."""
        return -jnp.mean(jnp.sum(jnp.exp(self.log_probs) * self.log_probs, axis=-1))

    def inner_products(self, products: Array) -> "Categorical":
        """The network puts out logits z, and ∇log p_i = ∇z_i − Σ_j p_j ∇z_j, on either side of each product."""
        p = jnp.exp(self.log_probs).T  # as in `products`, choices outermost: [n, B]
        centred = lambda each: each - jnp.sum(p * each, axis=0)
        side = jax.vmap(lambda column: centred(column.reshape(p.shape)).ravel(), 1, 1)
        return Categorical(side(side(products).T))
