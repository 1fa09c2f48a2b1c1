"""x·W is the ordinary product to whoever asks; only its sums over rows are cut."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapo.rules.products import PIECE, _turned, times

SHAPES = [
    (5, 3, 2),
    (PIECE, 4, 3),
    (PIECE + 1, 4, 1),
    (4 * PIECE, 3, 2),
    (1000, 7, 5),
    (1009, 2, 2),
]


def plain(x, weight):
    return x @ weight


def numbers(rows, inputs, outputs, seed=0):
    rng = np.random.default_rng(seed)
    shapes = (rows, inputs), (inputs, outputs), (rows, outputs)
    return [jnp.asarray(rng.normal(size=shape)) for shape in shapes]


def bent(product):
    """A loss with a second derivative in both."""
    return lambda x, weight: jnp.sum(jnp.tanh(product(x, weight)) ** 2)


def same(ours, theirs):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4), ours, theirs)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 3 * PIECE), st.integers(1, 9), st.integers(1, 9))
def test_derivatives_are_those_of_the_ordinary_product(rows, inputs, outputs):
    x, weight, back = numbers(rows, inputs, outputs)
    for product in (times, plain):
        value, pull = jax.vjp(product, x, weight)
        found = value, pull(back), jax.jvp(product, (x, weight), (x, weight))[1]
        if product is times:
            ours = found
    same(ours, found)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_product_linearised_and_turned_round_is_xᵀ(shape):
    x, weight, back = numbers(*shape)
    _, push = jax.linearize(lambda weight: times(x, weight), weight)
    (pulled,) = jax.linear_transpose(push, weight)(back)
    same(pulled, x.T @ back)


@pytest.mark.parametrize("shape", SHAPES)
def test_second_derivatives_too(shape):
    x, weight, _ = numbers(*shape)
    twice = lambda product: jax.jvp(jax.grad(bent(product), (0, 1)), (x, weight), (x, weight))[1]
    same(twice(times), twice(plain))
    back = lambda product: jax.grad(lambda w: jax.grad(bent(product), 0)(x, w).sum())(weight)
    same(back(times), back(plain))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 100_000))
def test_no_sum_is_longer_than_a_piece(rows):
    """Whatever the number of rows, one that has no divisor included."""
    turned = jax.eval_shape(_turned, jax.ShapeDtypeStruct((rows, 3), "float32"))
    pieces, inputs, length = turned.shape
    assert inputs == 3 and length <= PIECE and rows <= pieces * length < rows + pieces


def test_several_at_once():
    xs, weights, _ = (
        jnp.stack(each)
        for each in zip(*(numbers(300, 4, 3, seed) for seed in range(3)), strict=True)
    )
    at_once = lambda product: jax.vmap(jax.grad(bent(product), (0, 1)))(xs, weights)
    same(at_once(times), at_once(plain))
    one_x = lambda product: jax.vmap(jax.grad(bent(product), 1), (None, 0))(xs[0], weights)
    same(one_x(times), one_x(plain))
    hessian = lambda product: jax.hessian(lambda w: bent(product)(xs[0], w))(weights[0])
    same(hessian(times), hessian(plain))


def test_more_axes_of_rows():
    x, weight, back = numbers(600, 4, 3)
    _, pull = jax.vjp(times, x.reshape(30, 20, 4), weight)
    same(pull(back.reshape(30, 20, 3)), ((back @ weight.T).reshape(30, 20, 4), x.T @ back))
