"""What the rules ask of a distribution over actions, whichever kind it is."""

from typing import Any, Protocol

from jax import Array


class Distribution(Protocol):
    """π(·|s) in one state or in many, as arrays that are the policy's outputs: `Gaussian` or `Categorical`."""

    def log_prob(self, action: Array) -> Array:
        """log π(action|s) of actions [..., A]. [...]"""
        ...

    def divergence(self, other: Any) -> Array:
        """KL(self‖other) in nats, `other` of the same kind. [...]

        Its Hessian in the arrays of `other`, where both are equal, is diagonal, and with their Jacobian J it makes
        JᵀHJ the Fisher information matrix.
        """
        ...

    def entropy(self) -> Array:
        """In nats, the mean over all states."""
        ...

    def inner_products(self, products: Array) -> Any:
        """For `gram.exact_fisher`: the inner products of the gradients of all that is in here.

        `products` are those of the network's outputs.
        """
        ...
