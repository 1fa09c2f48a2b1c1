"""Exact solves with the Fisher matrix of a few rows.

The Fisher matrix F = Jᵀ H J of m rows with A outputs each has a rank of m·A at most, so what F + damping·I does beyond
damping it does in a space of that size (Woodbury's identity):

    (F + damping·I)⁻¹ g = (g − Jᵀ √H (damping·I + √H JJᵀ √H)⁻¹ √H J g) / damping

The Gram matrix JJᵀ takes a network no Jacobian (`networks.gram`), and together with one Cholesky factorisation it costs
about as much as three products with F: a minibatch of 64 rows and two actions needs five to ten of them otherwise.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.linalg import cho_solve

from shapo.rules import trees
from shapo.rules.geometry import Behaviour, Metric, gauss_newton, linearised
from shapo.rules.solving import Guess, Solution
from shapo.rules.trees import Tree

MOST_OUTPUTS = 192
"""Beyond three actions in 64 rows conjugate gradients are as fast; and LAPACK factorises larger matrices on as many
threads as there are cores, which shows in the last bit."""
LEAST_DAMPING = 1e-2
"""Below, what is subtracted is nearly all of g, and of the rest single precision keeps too little: of a policy with a
spread of 0.05 a tenth is wrong at 1e-3, at 1e-2 less than conjugate gradients leave."""


def exact_fisher(behaviour: Behaviour, gram: Any, params: Tree, damping: float) -> Metric:
    """M = F + damping·I as in `geometry.fisher`, with systems solved to rounding.

    `gram` holds, for each array of the outputs, the inner products of its elements' gradients, [n, n], in the order of
    the array's transpose. Gradients of different arrays must be orthogonal, and the divergence's Hessian H diagonal.
    """
    near = linearised(behaviour, params)
    roots = jax.tree.map(jnp.sqrt, near.curve(jax.tree.map(jnp.ones_like, near.here)))

    def factor(products: Array, root: Array) -> Array:
        root = root.T.ravel()
        matrix = root[:, None] * products * root + damping * jnp.eye(root.size, dtype=root.dtype)
        return jnp.linalg.cholesky(matrix, symmetrize_input=False)

    def within(factor: Array, root: Array, pushed: Array) -> Array:
        inner = cho_solve((factor, True), (root * pushed).T.ravel())
        return root * inner.reshape(root.T.shape).T

    factors = jax.tree.map(factor, gram, roots)

    def solve(g: Tree, guess: Guess | None = None, tolerance: float | None = None) -> Solution:
        (beyond,) = near.pull(jax.tree.map(within, factors, roots, near.push(g)))
        x = trees.scale(1 / damping, trees.add(g, beyond, -1.0))
        return Solution(x, trees.zeros(g), jnp.zeros((), jnp.int32))

    return Metric(gauss_newton(near, damping), solve)
