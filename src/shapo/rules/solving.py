"""Conjugate gradients, for a matrix that is known only by what it does to a direction."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from shapo.rules import trees
from shapo.rules.trees import Tree


class Guess(NamedTuple):
    """A solution of a similar system, to start from."""

    x: Tree
    image: Tree
    """Mx, which whoever found x knows already."""


class Solution(NamedTuple):
    """An approximate x = M⁻¹g, and how good it is."""

    x: Tree
    residual: Tree
    """g − Mx"""
    iterations: Array


def guess_of(g: Tree, solution: Solution) -> Guess:
    """The solution for g as a guess for something similar: Mx = g − residual, without another product with M."""
    return Guess(solution.x, trees.add(g, solution.residual, -1.0))


def conjugate_gradients(
    apply: Callable[[Tree], Tree],
    g: Tree,
    precondition: Callable[[Tree], Tree] = trees.identity,
    *,
    guess: Guess | None = None,
    iterations: int,
    tolerance: float | Array,
) -> Solution:
    """Solve Mx = g until ‖g − Mx‖ ≤ tolerance·‖g‖, or for so many iterations.

    `precondition` is roughly M⁻¹ and may be a solver itself: the directions are made conjugate by Polak and Ribière's
    formula, which forgives that it is not quite linear. `jax.scipy.sparse.linalg.cg` does not, and keeps the residual,
    which the step length needs, to itself.
    """
    if guess is None:
        x, residual = trees.zeros(g), g
    else:
        # The multiple of the guess that comes closest; its image spares a product with M.
        squared = trees.dot(guess.x, guess.image)
        factor = trees.dot(guess.x, g) / jnp.where(squared > 0, squared, 1.0)
        x, residual = trees.scale(factor, guess.x), trees.add(g, guess.image, -factor)
    enough = (tolerance * trees.norm(g)) ** 2

    def unfinished(carry) -> Array:
        _, residual, _, _, _, k = carry
        return (trees.dot(residual, residual) > enough) & (k < iterations)

    def improve(carry):
        x, residual, before, direction, energy, k = carry
        towards = precondition(residual)
        conjugate = trees.dot(towards, trees.add(residual, before, -1.0)) / energy
        direction = trees.add(towards, direction, conjugate)
        curved = apply(direction)
        along = trees.dot(residual, direction) / trees.dot(direction, curved)
        return (
            trees.add(x, direction, along),
            trees.add(residual, curved, -along),
            residual,
            direction,
            trees.dot(towards, residual),
            k + 1,
        )

    zero, one = trees.zeros(g), jnp.ones_like(enough)
    first = (x, residual, zero, zero, one, jnp.zeros((), jnp.int32))
    x, residual, *_, k = jax.lax.while_loop(unfinished, improve, first)
    return Solution(x, residual, k)
