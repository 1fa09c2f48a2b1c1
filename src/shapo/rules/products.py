"""x·W, whose derivative by W adds up in the same order on every processor.

That derivative, transposed, is a sum over all rows, xᵀ·g. XLA has another library multiply matrices where the left one
lies on its side, and that one cuts sums to the size of the cache and to the registers: each kind of processor would add
in an order of its own. So x is turned in memory first, once for all products with it, and sums are cut here.

JAX derives a transpose from the forward product and knows no other way to be told one than a primitive.
"""

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.custom_derivatives import SymbolicZero
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

PIECE = 256
"""Rows that are added up at a time: no cache is too small for them."""


@jax.custom_jvp
def times(x: Array, weight: Array) -> Array:
    """x·weight, for x [..., I] and weight [I, O]."""
    return x @ weight


@partial(times.defjvp, symbolic_zeros=True)
def _times_moved(
    at: tuple[Array, Array], moves: tuple[Array | SymbolicZero, Array | SymbolicZero]
) -> tuple[Array, Array]:
    (x, weight), (dx, dweight) = at, moves
    product = x @ weight
    moved = jnp.zeros_like(product)
    if not isinstance(dx, SymbolicZero):
        moved += dx @ weight
    if not isinstance(dweight, SymbolicZero):
        moved += _linear.bind(x, _turned(x), dweight)
    return product, moved


def _turned(x: Array) -> Array:
    """x in pieces [pieces, I, rows], really moved in memory: XLA would only note that it is to be read that way."""
    *shape, size = x.shape
    rows = math.prod(shape)
    fewest = -(-rows // PIECE)
    pieces = next((n for n in range(fewest, rows // 16) if rows % n == 0), fewest)
    filled = _filled(x.reshape(rows, size), pieces * -(-rows // pieces))
    return jax.lax.optimization_barrier(filled.reshape(pieces, -1, size).swapaxes(1, 2))


def _filled(x: Array, rows: int) -> Array:
    """With zeros below, so many that it has so many rows: where rows have no divisor, the last piece is filled up."""
    return jnp.pad(x, ((0, rows - len(x)), (0, 0)))


def _pulled(turned: Array, back: Array) -> Array:
    """xᵀ·back: the derivative by the weight."""
    pieces, _, rows = turned.shape
    filled = _filled(back.reshape(-1, back.shape[-1]), pieces * rows)
    return (turned @ filled.reshape(pieces, rows, -1)).sum(0)


def _product(x: Array, turned: Array, weight: Array) -> Array:
    return x @ weight


def _transposed(back: Any, x: Array, turned: Array, weight: Any) -> tuple[None, None, Any]:
    zero = isinstance(back, ad.Zero)
    return None, None, ad.Zero(weight.aval) if zero else _pulled(turned, back)


def _batched(arguments: Any, axes: Any) -> tuple[Array, int]:
    """Under `jax.vmap`, the ordinary product: right, only not in the same order everywhere."""
    return jax.vmap(_product, axes)(*arguments), 0


_linear = Primitive("times")
_linear.def_impl(_product)
_linear.def_abstract_eval(
    lambda x, turned, weight: x.update(shape=(*x.shape[:-1], weight.shape[-1]))
)
mlir.register_lowering(_linear, mlir.lower_fun(_product, multiple_results=False))
ad.primitive_transposes[_linear] = _transposed
ad.defjvp(
    _linear,
    lambda dx, x, turned, weight: dx @ weight,
    None,
    lambda dweight, x, turned, weight: _linear.bind(x, turned, dweight),
)
batching.primitive_batchers[_linear] = _batched
