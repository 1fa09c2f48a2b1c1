"""Vector algebra on parameter trees."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

Tree = Any
"""A pytree of arrays: parameters, or a direction among them."""


def dot(a: Tree, b: Tree) -> Array:
    """⟨a, b⟩ over all leaves."""
    return jax.tree.reduce(jnp.add, jax.tree.map(lambda x, y: jnp.vdot(x, y), a, b))


def norm(a: Tree) -> Array:
    """‖a‖₂ over all leaves."""
    return jnp.sqrt(dot(a, a))


def scale(factor: Array | float, a: Tree) -> Tree:
    """factor · a"""
    return jax.tree.map(lambda x: factor * x, a)


def add(a: Tree, b: Tree, factor: Array | float = 1.0) -> Tree:
    """a + factor · b"""
    return jax.tree.map(lambda x, y: x + factor * y, a, b)


def where(condition: Array, a: Tree, b: Tree) -> Tree:
    """a if condition else b, leaf by leaf."""
    return jax.tree.map(lambda x, y: jnp.where(condition, x, y), a, b)


def zeros(a: Tree) -> Tree:
    """0, shaped like a."""
    return jax.tree.map(jnp.zeros_like, a)


def cosine(a: Tree, b: Tree) -> Array:
    """cos of the angle between a and b; 1 where either vanishes (they do not disagree)."""
    lengths = norm(a) * norm(b)
    return jnp.where(lengths > 0, dot(a, b) / jnp.where(lengths > 0, lengths, 1.0), 1.0)


def is_finite(a: Tree) -> Array:
    """Whether every number in the tree is finite."""
    finite: Callable[[Array], Array] = lambda x: jnp.all(jnp.isfinite(x))
    return jax.tree.reduce(jnp.logical_and, jax.tree.map(finite, a))
