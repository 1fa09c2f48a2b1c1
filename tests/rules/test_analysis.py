"""Propositions 2 and 3 against a constrained optimiser, automatic differentiation and sampling."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

from shapo.rules import analysis


def positive_definite(rng, size):
    root = rng.normal(size=(size, size))
    return root @ root.T + 0.3 * np.eye(size)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.4])
@pytest.mark.parametrize("samples", [3.0, 50.0])
def test_perturbation_is_the_most_likely_parameter_below_the_quantile(alpha, samples):
    rng = np.random.default_rng(0)
    fisher, gradient = positive_definite(rng, 4), rng.normal(size=4)
    covariance = np.linalg.inv(fisher) / samples
    returns = rng.multivariate_normal(np.zeros(4), covariance, 400_000) @ gradient
    sampled_quantile = np.quantile(returns, alpha)

    epsilon = analysis.most_likely_below_quantile(fisher, gradient, samples, alpha)

    assert gradient @ epsilon == pytest.approx(sampled_quantile, abs=0.01 * returns.std())
    best = minimize(
        lambda e: samples / 2 * e @ fisher @ e,
        x0=-gradient,
        jac=lambda e: samples * fisher @ e,
        constraints={"type": "ineq", "fun": lambda e: gradient @ (epsilon - e)},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert best.success
    np.testing.assert_allclose(epsilon, best.x, rtol=1e-5, atol=1e-7)


def test_perturbation_is_the_steepest_descent_of_the_matching_radius():
    rng = np.random.default_rng(1)
    fisher, gradient = positive_definite(rng, 5), rng.normal(size=5)
    epsilon = analysis.most_likely_below_quantile(fisher, gradient, samples=200, alpha=0.05)
    radius = float(analysis.radius_of_alpha(0.05, 200))
    np.testing.assert_allclose(
        epsilon, analysis.steepest_ascent(fisher, -gradient, radius), rtol=1e-12
    )


def test_steepest_solves_the_trust_region_problem():
    rng = np.random.default_rng(2)
    fisher, gradient, radius = positive_definite(rng, 4), rng.normal(size=4), 0.02
    best = minimize(
        lambda e: -gradient @ e,
        x0=np.zeros(4),
        constraints={"type": "ineq", "fun": lambda e: radius - e @ fisher @ e / 2},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert best.success
    np.testing.assert_allclose(
        analysis.steepest_ascent(fisher, gradient, radius), best.x, rtol=2e-4
    )


def test_schedules_reproduce_the_published_numbers_and_invert_each_other():
    np.testing.assert_allclose(
        analysis.radius_of_alpha([0.01, 0.05, 0.4], 20_000), [1.35e-4, 6.76e-5, 1.6e-6], rtol=5e-3
    )
    np.testing.assert_allclose(
        analysis.alpha_of_radius(1e-5, [20_000, 100_000, 1_000_000]),
        [0.264, 0.079, 3.9e-6],
        rtol=1e-2,
    )
    samples = np.geomspace(10, 1e7, 7)
    round_trip = analysis.alpha_of_radius(analysis.radius_of_alpha(0.07, samples), samples)
    np.testing.assert_allclose(round_trip, 0.07, rtol=1e-12)


@pytest.mark.parametrize("advantage", [-10.0, 3.0])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_gaussian_gradients_equal_automatic_differentiation(advantage, size):
    radius = 0.005
    action = np.random.default_rng(size).normal(size=size) * 2

    def surrogate(mean):
        ratio = jnp.exp(jnp.sum(jnp.asarray(action) ** 2 - (jnp.asarray(action) - mean) ** 2) / 2)
        return advantage * ratio

    with jax.enable_x64(True):
        plain = jax.grad(surrogate)(jnp.zeros(size))
        worst = -jnp.sqrt(2 * radius) * plain / jnp.linalg.norm(plain)
        shapo = jax.grad(surrogate)(worst)
    np.testing.assert_allclose(analysis.gaussian_gradient(action, advantage), plain, rtol=1e-10)
    np.testing.assert_allclose(
        analysis.gaussian_shapo_gradient(action, advantage, radius), shapo, rtol=1e-10
    )


def test_gaussian_gradients_take_many_actions_at_once():
    rng = np.random.default_rng(3)
    actions, advantages = rng.normal(size=(6, 2)), rng.normal(size=6)
    together = analysis.gaussian_shapo_gradient(actions, advantages, 0.01)
    one_by_one = [
        analysis.gaussian_shapo_gradient(a, A, 0.01)
        for a, A in zip(actions, advantages, strict=True)
    ]
    np.testing.assert_allclose(together, one_by_one)


@pytest.mark.parametrize(
    ("call", "culprit"),
    [
        (lambda: analysis.radius_of_alpha(0.5, 10), "alpha"),
        (lambda: analysis.radius_of_alpha(0.05, 0), "samples"),
        (lambda: analysis.alpha_of_radius(-1.0, 10), "radius"),
        (lambda: analysis.gaussian_shapo_gradient([0.0, 0.0], 1.0, 0.1), "action"),
    ],
)
def test_impossible_input_is_named(call, culprit):
    with pytest.raises(ValueError, match=culprit):
        call()
