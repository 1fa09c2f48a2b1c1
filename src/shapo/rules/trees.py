"""Vector algebra on parameter trees: what `optax.tree` has not, or not so that equal numbers stay equal."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from optax.tree import scale, where
from optax.tree import zeros_like as zeros

__all__ = [
    "Tree",
    "add",
    "cosine",
    "dot",
    "identity",
    "is_finite",
    "norm",
    "scale",
    "where",
    "zeros",
]

Tree = Any
"""A pytree of arrays: parameters, or a direction among them."""


def identity(a: Tree) -> Tree:
    """a"""
    return a


def dot(a: Tree, b: Tree) -> Array:
    """⟨a, b⟩ over all leaves."""
    return jax.tree.reduce(jnp.add, jax.tree.map(lambda x, y: jnp.vdot(x, y), a, b))


def norm(a: Tree) -> Array:
    """‖a‖₂ over all leaves."""
    return jnp.sqrt(dot(a, a))


def add(a: Tree, b: Tree, factor: Array | float = 1.0) -> Tree:
    """a + factor · b"""
    return jax.tree.map(lambda x, y: x + factor * y, a, b)


def cosine(a: Tree, b: Tree) -> Array:
    """cos of the angle between a and b; 1 where either vanishes (they do not disagree)."""
    lengths = norm(a) * norm(b)
    return jnp.where(lengths > 0, dot(a, b) / jnp.where(lengths > 0, lengths, 1.0), 1.0)


def is_finite(a: Tree) -> Array:
    """Whether every number in the tree is finite."""
    finite: Callable[[Array], Array] = lambda x: jnp.all(jnp.isfinite(x))
    return jax.tree.reduce(jnp.logical_and, jax.tree.map(finite, a))
