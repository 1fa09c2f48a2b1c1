"""Policies that choose: their Fisher matrix and every algorithm on them, against dense algebra in NumPy (`oracle`)."""

import typing

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import oracle
import pytest
from problems import CHOICES, OBS, chooser, chosen, data, flat, orders
from test_reductions import (
    BECOMES,
    EXPERIMENT,
    NAMES,
    NEVER,
    RADIUS,
    REGION,
    ROUNDING,
    UNSEARCHED,
    differ,
    same,
    update_with,
)

from shapo.experiment import GradientRule, algos
from shapo.learning import recipes
from shapo.rules.gram import MOST_OUTPUTS, exact_fisher
from shapo.rules.surrogates import policy_behaviour, policy_gram

DAMPING, ROWS, SIZE = 0.1, 60, 20
ONE_DIMENSION = EXPERIMENT.replace(
    radius_per_dim=REGION, damping_per_dim=DAMPING, pessimism=RADIUS, ppo_minibatch=SIZE
)
NET = oracle.Chooser(OBS, 6, CHOICES)
SHAPO = oracle.Rule(NET, radius=RADIUS, damping=DAMPING)
QUICK = [
    name
    for name in algos.EPOCHS
    if BECOMES.get(name, [name])[0] == "ppo" and name not in ("p3o", "cup")
]
"""Algorithms that share a compiled step with PPO; each other one is a program to compile, which takes its time."""

pytestmark = pytest.mark.xdist_group("choices")


@jax.jit
def exactly(params, obs, damping, right):
    metric = exact_fisher(policy_behaviour(obs), policy_gram(params, obs), params, damping)
    found = metric.solve(right)
    return found.x, metric.apply(found.x)


def test_solves_and_products_are_those_with_the_covariance_of_the_score():
    params = chooser(hidden=(6, 5))
    seen, net = chosen(params, rows=30), oracle.Chooser(OBS, 6, 5, CHOICES)
    theta, unravel = np.asarray(flat(params), float), jax.flatten_util.ravel_pytree(params)[1]
    right = np.random.default_rng(0).normal(size=theta.size)
    for damping in (1e-3, 0.2):
        x, image = exactly(params, seen.obs, damping, unravel(jnp.asarray(right)))
        expected = np.linalg.solve(net.fisher(theta, seen.obs, damping), right)
        np.testing.assert_allclose(flat(x), expected, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(flat(image), right, atol=1e-10)


def run(name, rule, **situation):
    params = chooser()
    experiment = ONE_DIMENSION.replace(algo=name, gradient=rule)
    rows = chosen(params, rows=ROWS)
    return update_with(recipes.algorithm(experiment, 1), params=params, rows=rows, **situation)


@pytest.mark.slow
def test_trpo_with_shapo_goes_where_dense_algebra_goes():
    assert ROWS * CHOICES <= MOST_OUTPUTS  # so nothing is left to the tolerance of a solver
    moved, _, metrics = run("trpo", "shapo")
    theta, rows = np.asarray(flat(chooser()), float), data(chosen(chooser(), rows=ROWS))
    g = SHAPO.grads(theta, rows)
    x = np.linalg.solve(NET.fisher(theta, rows.obs, DAMPING), g)
    step = np.sqrt(2 * REGION / (g @ x)) * x
    better = lambda f: (
        NET.loss(theta - f * step, rows)[0] <= NET.loss(theta, rows)[0]
        and NET.kl(theta, theta - f * step, rows.obs) <= REGION
    )
    fraction = next(f for f in 0.8 ** np.arange(15) if better(f))
    np.testing.assert_allclose(metrics["policy/fraction"], fraction)
    same(moved, theta - fraction * step, 1e-8)
    np.testing.assert_allclose(
        metrics["policy/kl"], NET.kl(theta, np.asarray(flat(moved)), rows.obs)
    )


def test_ppo_with_shapo_goes_where_it_goes_by_hand():
    moved, _, metrics = run("ppo", "shapo")
    theta, rows = np.asarray(flat(chooser()), float), data(chosen(chooser(), rows=ROWS))
    expected, kl, _ = oracle.epochs(
        SHAPO, oracle.clipped(NET, EXPERIMENT.ppo_clip), theta, rows, orders(ROWS, SIZE, EXPERIMENT.ppo_epochs),
        rate=EXPERIMENT.ppo_rate, stop_kl=EXPERIMENT.ppo_stop_kl, adam=oracle.Adam(theta.size, max_norm=40.0),
    )  # fmt: skip
    same(moved, expected)
    np.testing.assert_allclose(metrics["policy/kl"], kl, rtol=1e-6)


def every_case(which, rules=typing.get_args(GradientRule)):
    """(name, rule); slow unless it shares its program with the one above."""
    quick = lambda name, rule: rule == "shapo" and name in QUICK
    return pytest.mark.parametrize(
        ("name", "rule"),
        [
            pytest.param(name, rule, marks=[] if quick(name, rule) else pytest.mark.slow)
            for rule in rules
            for name in which
        ],
    )


@every_case(NAMES)
def test_every_algorithm_moves_with_every_rule(name, rule):
    moved, _, metrics = run(name, rule)
    assert jnp.isfinite(flat(moved)).all()
    differ(moved, chooser(), 1e-4)
    if name in algos.TRUST_REGION:
        assert 0 < metrics["policy/kl"] <= (1.1 if name in UNSEARCHED else 1.0) * REGION
    if rule == "shapo":
        assert 0 < metrics["gradient/kl"] <= RADIUS
        zero, _, metrics = run(name, rule, iteration=NEVER)
        assert metrics["gradient/kl"] == 0
        differ(moved, zero)


@every_case(BECOMES)
def test_an_algorithm_whose_constraint_does_not_bind(name, rule):
    base, situations = BECOMES[name]
    for situation in situations:
        free = run(name, rule, **situation)[0]
        same(free, run(base, rule)[0], ROUNDING.get(name, 1e-7))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_shapo_with_radius_zero_is_plain(name):
    same(run(name, "shapo", iteration=NEVER)[0], run(name, "plain")[0])
