"""Metrics, steepest directions and line searches: the formula that SAM, SHAPO and TRPO share.

In a metric M, the direction along which a function with gradient g changes most within ½ dᵀMd ≤ radius is

    d = √(2·radius / gᵀM⁻¹g) · M⁻¹g                                     (`steepest`)

With M = I and ascending that is SAM's perturbation (radius = ρ²/2); with M the Fisher matrix and ascending, SHAPO's;
with M the Fisher matrix and descending, TRPO's step.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from shapo import trees
from shapo.trees import Tree


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


class Metric(NamedTuple):
    """A positive definite matrix M over parameters, known by what it does to a direction."""

    apply: Callable[[Tree], Tree]
    """v ↦ Mv"""
    solve: Callable[..., Solution]
    """(g, guess=None, tolerance=None) ↦ M⁻¹g; `tolerance` is a relative residual."""


class Behaviour(NamedTuple):
    """What parameters *do* on a batch, and how differently two of them do it."""

    outputs: Callable[[Tree], Any]
    """params ↦ outputs: for a policy its action distributions, for a critic its values."""
    divergence: Callable[[Any, Any], Array]
    """(outputs, outputs) ↦ mean divergence over the batch: for a policy KL, for a critic half the squared error."""


def euclidean() -> Metric:
    """M = I."""
    solve = lambda g, guess=None, tolerance=None: Solution(
        g, trees.zeros(g), jnp.zeros((), jnp.int32)
    )
    return Metric(lambda v: v, solve)


def fisher(
    behaviour: Behaviour, params: Tree, *, damping: float, iterations: int, tolerance: float
) -> Metric:
    """M = F + damping·I, with F = Jᵀ H J the Gauss–Newton matrix of the divergence from `params`.

    J is the Jacobian of the outputs and H the divergence's Hessian in output space; at `params` itself this is the
    Fisher information matrix, and it is positive semi-definite by construction. The forward pass is linearised once
    and shared by every product and every solve.
    """
    here, push = jax.linearize(behaviour.outputs, params)
    pull = jax.linear_transpose(push, params)
    slope = jax.grad(lambda outputs: behaviour.divergence(here, outputs))
    _, curve = jax.linearize(slope, here)

    def apply(v: Tree) -> Tree:
        (product,) = pull(curve(push(v)))
        return trees.add(product, v, damping)

    def solve(g: Tree, guess: Guess | None = None, tolerance: float = tolerance) -> Solution:
        return conjugate_gradients(
            apply, g, guess=guess, iterations=iterations, tolerance=tolerance
        )

    return Metric(apply, solve)


def conjugate_gradients(
    apply: Callable[[Tree], Tree],
    g: Tree,
    *,
    guess: Guess | None,
    iterations: int,
    tolerance: float | Array,
) -> Solution:
    """Solve Mx = g until ‖g − Mx‖ ≤ tolerance·‖g‖, or for so many iterations.

    `jax.scipy.sparse.linalg.cg` keeps the residual to itself; we report it, and the step length needs it.
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
        _, _, _, rr, k = carry
        return (rr > enough) & (k < iterations)

    def improve(carry):
        x, residual, direction, rr, k = carry
        curved = apply(direction)
        along = rr / trees.dot(direction, curved)
        x, residual = trees.add(x, direction, along), trees.add(residual, curved, -along)
        rr_next = trees.dot(residual, residual)
        return x, residual, trees.add(residual, direction, rr_next / rr), rr_next, k + 1

    first = (x, residual, residual, trees.dot(residual, residual), jnp.zeros((), jnp.int32))
    x, residual, _, _, k = jax.lax.while_loop(unfinished, improve, first)
    return Solution(x, residual, k)


class Direction(NamedTuple):
    """The steepest direction for a gradient, and the solve it came from."""

    move: Tree
    """d, scaled to the radius."""
    natural: Guess
    """M⁻¹g, unscaled: a good start for solving a similar system."""
    residual: Array
    """‖g − M·natural‖ / ‖g‖"""
    iterations: Array


def steepest(
    grads: Tree,
    metric: Metric,
    radius: Array | float,
    *,
    guess: Guess | None = None,
    tolerance: float | None = None,
) -> Direction:
    """The ascent direction d with ½ dᵀMd = radius; zero for a zero gradient. Negate it to descend."""
    options = {} if tolerance is None else {"tolerance": tolerance}
    x, residual, iterations = metric.solve(grads, guess, **options)
    image = trees.add(grads, residual, -1.0)  # Mx, without another product with M
    squared = trees.dot(x, image)
    length = jnp.where(
        squared > 0, jnp.sqrt(2 * radius / jnp.where(squared > 0, squared, 1.0)), 0.0
    )
    size = trees.norm(grads)
    relative = jnp.where(size > 0, trees.norm(residual) / jnp.where(size > 0, size, 1.0), 0.0)
    return Direction(trees.scale(length, x), Guess(x, image), relative, iterations)


class Backtracked(NamedTuple):
    """Where a line search ended."""

    params: Tree
    """The accepted point, or the starting point if none was."""
    fraction: Array
    """How much of the move was made; 0 if nothing was accepted."""
    found: Any
    """What `evaluate` said of the accepted point; of the last one tried if nothing was accepted."""


def backtrack(
    params: Tree,
    move: Tree,
    evaluate: Callable[[Tree], Any],
    accept: Callable[[Any], Array],
    *,
    trials: int,
    shrink: float = 0.8,
) -> Backtracked:
    """Try params + fraction·move for fraction 1, shrink, shrink², … and stop at the first point that is accepted."""

    def attempt(fraction: Array | float) -> tuple[Array, Any]:
        candidate = trees.add(params, move, fraction)
        found = evaluate(candidate)
        return accept(found) & trees.is_finite(candidate), found

    def searching(carry) -> Array:
        trial, _, (accepted, _) = carry
        return ~accepted & (trial < trials)

    def again(carry):
        trial, fraction, _ = carry
        return trial + 1, shrink * fraction, attempt(shrink * fraction)

    one = jnp.ones((), jnp.result_type(float))
    _, fraction, (accepted, found) = jax.lax.while_loop(searching, again, (1, one, attempt(one)))
    fraction = jnp.where(accepted, fraction, 0.0)
    return Backtracked(
        trees.where(accepted, trees.add(params, move, fraction), params), fraction, found
    )
