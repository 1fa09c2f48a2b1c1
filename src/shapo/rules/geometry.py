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

from shapo.rules import trees
from shapo.rules.trees import Tree

SKETCH_TOLERANCE = 0.05
"""Relative residual of the sketch's own solves: the sketch differs from the whole by more than that."""


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
    behaviour: Behaviour,
    params: Tree,
    *,
    damping: float,
    iterations: int,
    tolerance: float,
    sketch: Behaviour | None = None,
) -> Metric:
    """M = F + damping·I, with F = Jᵀ H J the Gauss–Newton matrix of the divergence from `params`.

    J is the Jacobian of the outputs and H the divergence's Hessian in output space; at `params` itself this is the
    Fisher information matrix, and it is positive semi-definite by construction.

    `sketch` is the same behaviour on a few of the batch's rows. Solving with its matrix first, which is cheap, leaves
    the batch's own matrix little to correct: two products with it do what fifteen did.
    """
    apply = gauss_newton(behaviour, params, damping)
    precondition = identity
    if sketch is not None:
        rough = gauss_newton(sketch, params, damping)
        precondition = lambda g: (
            conjugate_gradients(rough, g, iterations=iterations, tolerance=SKETCH_TOLERANCE).x
        )

    def solve(g: Tree, guess: Guess | None = None, tolerance: float = tolerance) -> Solution:
        return conjugate_gradients(
            apply, g, precondition, guess=guess, iterations=iterations, tolerance=tolerance
        )

    return Metric(apply, solve)


def gauss_newton(behaviour: Behaviour, params: Tree, damping: float) -> Callable[[Tree], Tree]:
    """v ↦ Jᵀ H J v + damping·v. The forward pass is linearised once and shared by every product."""
    here, push = jax.linearize(behaviour.outputs, params)
    pull = jax.linear_transpose(push, params)
    slope = jax.grad(lambda outputs: behaviour.divergence(here, outputs))
    _, curve = jax.linearize(slope, here)

    def apply(v: Tree) -> Tree:
        (product,) = pull(curve(push(v)))
        return trees.add(product, v, damping)

    return apply


def identity(v: Tree) -> Tree:
    """v"""
    return v


def conjugate_gradients(
    apply: Callable[[Tree], Tree],
    g: Tree,
    precondition: Callable[[Tree], Tree] = identity,
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
