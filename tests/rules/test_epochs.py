import jax
import numpy as np
import pytest

from shapo.rules.epochs import minibatches

orders = jax.jit(jax.vmap(minibatches, in_axes=(0, None, None)), static_argnums=(1, 2))


@pytest.mark.parametrize(("rows", "size"), [(20, 5), (23, 5), (64, 64), (1, 1), (65, 8)])
def test_an_epoch_takes_every_row_once_but_for_a_rest(rows, size):
    order = minibatches(jax.random.PRNGKey(0), rows, size)
    assert order.shape == (rows // size, size)
    taken = np.unique(order)
    assert len(taken) == order.size and taken.min() >= 0 and taken.max() < rows


def test_every_row_is_as_likely_in_every_minibatch_and_beside_every_other():
    """Over 4,000 epochs of 12 rows in 4 minibatches of 3; counts are within five deviations of what they should be."""
    epochs, rows, size = 4000, 12, 3
    drawn = np.asarray(orders(jax.random.split(jax.random.PRNGKey(1), epochs), rows, size))
    where = np.argsort(drawn.reshape(epochs, -1)) // size  # the minibatch of each row
    counts = np.array([(where == k).sum(0) for k in range(rows // size)])
    assert_binomial(counts, epochs, size / rows)
    together = np.array([(where[:, :1] == where[:, 1:]).sum(0)])
    assert_binomial(together, epochs, (size - 1) / (rows - 1))


def assert_binomial(counts, n, p):
    assert np.abs(counts - n * p).max() < 5 * np.sqrt(n * p * (1 - p))
