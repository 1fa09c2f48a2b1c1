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
from shapo.rules.solving import Guess, Solution, conjugate_gradients, guess_of
from shapo.rules.trees import Tree

SKETCH_TOLERANCE = 0.05
"""Relative residual of the sketch's own solves: the sketch differs from the whole by more than that."""


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
    apply = gauss_newton(linearised(behaviour, params), damping)
    precondition = trees.identity
    if sketch is not None:
        rough = gauss_newton(linearised(sketch, params), damping)
        precondition = lambda g: (
            conjugate_gradients(rough, g, iterations=iterations, tolerance=SKETCH_TOLERANCE).x
        )

    def solve(g: Tree, guess: Guess | None = None, tolerance: float = tolerance) -> Solution:
        return conjugate_gradients(
            apply, g, precondition, guess=guess, iterations=iterations, tolerance=tolerance
        )

    return Metric(apply, solve)


class Linearised(NamedTuple):
    """What changes of the parameters do: the forward pass is linearised once and shared by every product."""

    here: Any
    """The outputs at the parameters."""
    push: Callable[[Tree], Any]
    """v ↦ Jv, J the Jacobian of the outputs."""
    curve: Callable[[Any], Any]
    """u ↦ Hu, H the divergence's Hessian in output space."""
    pull: Callable[[Any], tuple[Tree]]
    """u ↦ (Jᵀu,)"""


def linearised(behaviour: Behaviour, params: Tree) -> Linearised:
    """The behaviour near `params`."""
    here, push = jax.linearize(behaviour.outputs, params)
    slope = jax.grad(lambda outputs: behaviour.divergence(here, outputs))
    _, curve = jax.linearize(slope, here)
    return Linearised(here, push, curve, jax.linear_transpose(push, params))


def gauss_newton(near: Linearised, damping: float) -> Callable[[Tree], Tree]:
    """v ↦ Jᵀ H J v + damping·v"""

    def apply(v: Tree) -> Tree:
        (product,) = near.pull(near.curve(near.push(v)))
        return trees.add(product, v, damping)

    return apply


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
    """The ascent direction d with ½ dᵀMd = radius; zero for a zero gradient. Negate it to descend.

    NaN where the gradient is NaN or M not positive: no line search accepts that.
    """
    options = {} if tolerance is None else {"tolerance": tolerance}
    solution = metric.solve(grads, guess, **options)
    natural = guess_of(grads, solution)
    squared = trees.dot(*natural)
    flat = squared == 0
    length = jnp.where(flat, 0.0, jnp.sqrt(2 * radius / jnp.where(flat, 1.0, squared)))
    size = trees.norm(grads)
    zero = size == 0
    relative = jnp.where(zero, 0.0, trees.norm(solution.residual) / jnp.where(zero, 1.0, size))
    return Direction(trees.scale(length, natural.x), natural, relative, solution.iterations)


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
