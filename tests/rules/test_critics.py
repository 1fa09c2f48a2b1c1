import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from shapo.rules import networks
from shapo.rules.critics import Critics
from shapo.rules.gradients import Plain, Sam, Shapo
from shapo.types import Progress

NOW = Progress(0.0, 1000.0, 100.0, jnp.zeros(1), 10.0, 1.0)
ROWS = 512
OBS = jax.random.normal(jax.random.PRNGKey(0), (ROWS, 3))
TARGET = OBS[:, 0] * 2 - OBS[:, 1] ** 2


def fit(critics, epochs=1):
    critic = critics.init(networks.init_critic(np.random.default_rng(1), 3, (16,)))
    rng = np.random.default_rng(0)
    for _ in range(epochs):
        critic, loss = critics.fit_one(critic, OBS, TARGET, critics.orders(rng, ROWS), NOW)
    return critic, loss


@pytest.mark.parametrize("rule", [Plain(), Sam(0.01), Shapo(1e-4)])
def test_a_critic_learns_with_every_rule(rule):
    critic, _ = fit(Critics(rule, rate=1e-2, epochs=10, decay=0.0), epochs=10)
    error = jnp.mean((networks.value(critic.params, OBS) - TARGET) ** 2)
    assert error < 0.05 * jnp.var(TARGET)


def test_sam_without_radius_is_plain():
    a, b = fit(Critics(Sam(0.0), epochs=2))[0], fit(Critics(Plain(), epochs=2))[0]
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, atol=1e-5), a.params, b.params)


def test_a_rate_may_be_scheduled():
    twice = Critics(rate=lambda progress: 2 * progress.remaining * 1e-3, epochs=1, minibatch=ROWS)
    a, b = fit(twice)[0], fit(Critics(rate=2e-3, epochs=1, minibatch=ROWS))[0]
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, atol=1e-7), a.params, b.params)


def test_one_minibatch_is_the_textbook_step():
    """Squared error plus decay·‖w‖², clipped, into Adam: written out with optax on the whole batch."""
    critics = Critics(epochs=1, minibatch=ROWS, decay=0.01, max_norm=0.5)
    before = networks.init_critic(np.random.default_rng(1), 3, (16,))

    def loss(params):
        squared = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(params))
        return jnp.mean((networks.value(params, OBS) - TARGET) ** 2) + 0.01 * squared

    grads = jax.grad(loss)(before)
    norm = optax.tree.norm(grads)
    assert norm > 0.5
    # Adam's first step is rate · g/|g|, whatever the clipping did to the length of g.
    expected = jax.tree.map(lambda p, g: p - 1e-3 * jnp.sign(g), before, grads)
    after, value = fit(critics)
    np.testing.assert_allclose(value, loss(before), rtol=1e-5)
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, atol=2e-5), after.params, expected)


def sharpness_aware(params, rho, decay, max_norm, steps, in_ascent=True):
    """Steps on the whole batch: up by rho along the gradient, its slope there, clipped, into Adam, by hand."""
    vector, unravel = jax.flatten_util.ravel_pytree(params)
    error = lambda v: jnp.mean((networks.value(unravel(v), OBS) - TARGET) ** 2)
    loss = lambda v: error(v) + decay * v @ v
    uphill, slope = (jax.jit(jax.grad(each)) for each in (loss if in_ascent else error, loss))
    m, v = np.zeros(vector.size), np.zeros(vector.size)
    for t in range(1, steps + 1):
        up = uphill(vector)
        g = slope(vector + rho * up / jnp.linalg.norm(up))
        g = np.asarray(g * jnp.minimum(1.0, max_norm / jnp.linalg.norm(g)), float)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        step = m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        vector = vector - 1e-2 * step
    return vector


def test_sharpness_aware_steps_are_those_written_out():
    """The weight decay is part of what is climbed; without it there the critic would be another."""
    numbers = {"rho": 0.5, "decay": 0.2, "max_norm": 1.0, "steps": 6}
    critics = Critics(
        Sam(numbers["rho"]),
        rate=1e-2,
        epochs=numbers["steps"],
        minibatch=ROWS,
        decay=numbers["decay"],
        max_norm=numbers["max_norm"],
    )
    before = networks.init_critic(np.random.default_rng(1), 3, (16,))
    found, _ = jax.flatten_util.ravel_pytree(fit(critics)[0].params)
    np.testing.assert_allclose(found, sharpness_aware(before, **numbers), atol=1e-5)
    outside = sharpness_aware(before, **numbers, in_ascent=False)
    assert np.abs(found - outside).max() > 1e-3


def test_every_epoch_takes_every_row_once_in_another_order():
    orders = Critics(epochs=3, minibatch=100).orders(np.random.default_rng(0), 1050)
    assert orders.shape == (3, 10, 100)  # the 50 rows that do not fill a minibatch are left out
    assert all(len(np.unique(epoch)) == 1000 for epoch in orders)
    assert not np.array_equal(orders[0], orders[1])
