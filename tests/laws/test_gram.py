"""Exact solves on a few rows: the Gram matrix and its solutions, against dense algebra and the other solver."""

import itertools

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import oracle
import pytest
from problems import ACT, OBS, data, flat, policy, samples

from shapo.rules import networks, trees
from shapo.rules.geometry import fisher
from shapo.rules.gram import LEAST_DAMPING, MOST_OUTPUTS, exact_fisher
from shapo.rules.networks import Layer
from shapo.rules.steps import FisherSolver
from shapo.rules.surrogates import policy_behaviour, policy_gram

ROWS = 30


@pytest.mark.parametrize("sizes", [(4, 3), (5, 7, 1), (3, 4, 6, 2)])
def test_gram_is_the_jacobian_times_its_transpose(sizes):
    net, rng = oracle.Mlp(*sizes), np.random.default_rng(0)
    size = sum((n + 1) * m for n, m in itertools.pairwise(sizes)) + net.actions
    theta, x = rng.normal(size=size), rng.normal(size=(5, sizes[0]))
    _, given = net.forward(theta, x)
    rows = (net.backward(theta, given, np.tile(unit, (5, 1))) for unit in np.eye(net.actions))
    jacobian = np.concatenate(list(rows))
    layers = tuple(Layer(*map(jnp.asarray, layer)) for layer in net.layers(theta)[0])
    np.testing.assert_allclose(jax.jit(networks.gram)(layers, x), jacobian @ jacobian.T, atol=1e-12)


def problem(log_std=-0.3, hidden=(6, 5), rows=ROWS):
    params = policy(hidden=hidden)._replace(log_std=jnp.array([log_std, log_std + 0.5]))
    seen = samples(params, rows=rows)
    net = oracle.Mlp(OBS, *hidden, ACT)
    _, g = net.loss(np.asarray(flat(params)), data(seen), 0.2)
    return params, seen, jax.flatten_util.ravel_pytree(params)[1](jnp.asarray(g)), net


@jax.jit
def exactly(params, obs, damping, right):
    metric = exact_fisher(policy_behaviour(obs), policy_gram(params, obs), params, damping)
    found = metric.solve(right)
    return found.x, metric.apply(found.x)


@pytest.mark.parametrize("damping", [1e-3, 0.2])
def test_a_solve_is_that_of_dense_algebra_and_of_conjugate_gradients(damping):
    params, seen, g, net = problem()
    dense = net.fisher(np.asarray(flat(params)), np.asarray(seen.obs), damping)
    for right in (g, trees.add(g, params, 0.01)):  # also what is no gradient of such a loss
        x, image = exactly(params, seen.obs, damping, right)
        expected = np.linalg.solve(dense, flat(right))
        np.testing.assert_allclose(flat(x), expected, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(flat(image), flat(right), atol=1e-11)
    step_by_step = jax.jit(
        lambda g: fisher(
            policy_behaviour(seen.obs), params, damping=damping, iterations=1000, tolerance=1e-13
        ).solve(g)
    )
    x, _ = exactly(params, seen.obs, damping, g)
    np.testing.assert_allclose(flat(step_by_step(g).x), flat(x), rtol=1e-7)


def test_single_precision_is_good_enough_for_a_policy_that_knows_what_it_wants():
    """σ = 0.05: the Fisher matrix is thousands of times the damping, and Woodbury subtracts what is almost equal."""
    params, seen, g, _ = problem(log_std=-3.0, hidden=(16,))
    single = jax.tree.map(lambda x: x.astype(jnp.float32), (params, seen.obs, jnp.array(0.2), g))
    expected, _ = exactly(params, seen.obs, 0.2, g)
    found, _ = exactly(*single)
    assert flat(found).dtype == jnp.float32
    error = jnp.linalg.norm(flat(found) - flat(expected)) / jnp.linalg.norm(flat(expected))
    assert 1e-9 < error < 1e-3


@pytest.mark.parametrize("damping", [1e-6, 1e-4, 1e-3, LEAST_DAMPING, 0.2])
@pytest.mark.parametrize("log_std", [-2.0, -3.0])
def test_in_single_precision_a_solve_is_as_good_as_it_says(damping, log_std):
    """With little damping Woodbury's identity would lose every digit, and not know it."""
    params, seen, g, _ = problem(log_std=log_std, hidden=(16,))
    params, seen, g = jax.tree.map(lambda x: x.astype(jnp.float32), (params, seen, g))
    metric = FisherSolver(damping, iterations=400, tolerance=0.02).metric(seen, params)
    found = jax.jit(metric.solve)(g)
    residual = trees.norm(trees.add(g, metric.apply(found.x), -1.0)) / trees.norm(g)
    assert residual < 0.03


@pytest.mark.parametrize(("rows", "exact"), [(90, True), (100, False)])
def test_few_outputs_are_solved_exactly_and_many_step_by_step(rows, exact):
    assert (rows * ACT <= MOST_OUTPUTS) == exact
    params, seen, g, _ = problem(hidden=(6,), rows=rows)
    solver = FisherSolver(damping=0.2, iterations=50, tolerance=1e-6)
    found = jax.jit(lambda g: solver.metric(seen, params).solve(g))(g)
    assert (found.iterations == 0) == exact
