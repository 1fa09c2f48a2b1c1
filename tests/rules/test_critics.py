import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree
from oracle import Adam

from shapo.rules import networks
from shapo.rules.critics import Critics, value_behaviour
from shapo.rules.gaussian import Gaussian
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


@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_what_adam_knows_is_kept_from_batch_to_batch(rho):
    """Two fits in a row, minibatch by minibatch, with Adam written out; the slope is clipped here and there.

    With SAM the decay is part of what is climbed and of what is felt up there.
    """
    critics = Critics(Sam(rho), 0.01, minibatch=ROWS // 4, epochs=2, decay=0.3, max_norm=4.0)
    critic = critics.init(networks.init_critic(np.random.default_rng(1), 3, (16,)))
    start, unravel = ravel_pytree(critic.params)

    def textbook(vector, x, y):
        error = networks.value(unravel(vector), x) - y
        return jnp.mean(error**2) + 0.3 * jnp.sum(vector**2)

    value_and_slope = jax.jit(jax.value_and_grad(textbook))
    vector, adam, rng = (
        np.asarray(start, float),
        Adam(start.size, max_norm=4.0),
        np.random.default_rng(0),
    )
    for _ in range(2):
        orders = critics.orders(rng, ROWS)
        critic, last = critics.fit_one(critic, OBS, TARGET, orders, NOW)
        for epoch in orders:
            losses = []
            for rows in epoch:
                value, slope = value_and_slope(vector, OBS[rows], TARGET[rows])
                worst = vector + rho * slope / np.linalg.norm(slope)
                _, slope = value_and_slope(worst, OBS[rows], TARGET[rows])
                vector = vector - 0.01 * adam.direction(np.asarray(slope, float))
                losses.append(value)
    assert 0 < adam.clipped < adam.t
    np.testing.assert_allclose(ravel_pytree(critic.params)[0], vector, atol=1e-5)
    np.testing.assert_allclose(last, np.mean(losses), rtol=1e-4)  # of the last epoch


def test_each_critic_takes_its_own_target_in_an_order_of_its_own():
    critics = Critics(rate=1e-2, epochs=2, minibatch=64)
    new = critics.init(networks.init_critic(np.random.default_rng(1), 3, (16,)))
    fit = lambda seed: critics.fit([new] * 3, OBS, [TARGET, TARGET, -TARGET], seed, NOW)
    (one, two, three), losses = fit((5, 0))
    weights = {critic.params[0].weight.tobytes() for critic in (one, two, fit((5, 1))[0][0])}
    assert len(weights) == 3
    error = lambda critic, target: jnp.mean((networks.value(critic.params, OBS) - target) ** 2)
    assert error(three, -TARGET) < error(three, TARGET) and error(one, TARGET) < error(one, -TARGET)
    jax.tree.map(np.testing.assert_array_equal, fit((5, 0)), ((one, two, three), losses))


def test_two_critics_differ_as_gaussians_around_their_values_do():
    behaviour = value_behaviour(OBS, lambda critic: critic)
    v, w = (networks.init_critic(np.random.default_rng(seed), 3, (16,)) for seed in (0, 1))
    here, there = behaviour.outputs(v), behaviour.outputs(w)
    one, other = (Gaussian(each[:, None], jnp.zeros(1)) for each in (here, there))
    np.testing.assert_allclose(
        behaviour.divergence(here, there), one.divergence(other).mean(), rtol=1e-5
    )


def test_every_epoch_takes_every_row_once_in_another_order():
    orders = Critics(epochs=3, minibatch=100).orders(np.random.default_rng(0), 1050)
    assert orders.shape == (3, 10, 100)  # the 50 rows that do not fill a minibatch are left out
    assert all(len(np.unique(epoch)) == 1000 for epoch in orders)
    assert not np.array_equal(orders[0], orders[1])
    few = Critics(epochs=3, minibatch=100).orders(np.random.default_rng(0), 7)
    np.testing.assert_array_equal(np.sort(few), np.tile(np.arange(7), (3, 1, 1)))
