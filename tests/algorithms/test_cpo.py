"""CPO's units, and the best step that can honestly be promised. (`tests/laws` checks `best_mixture` by brute force.)"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize
from test_train import TINY
from toy_env import Toy

from shapo.algorithms import AsReleased
from shapo.algorithms.cpo import Exact
from shapo.learning.advantages import sides
from shapo.rules.constrained import BOUND, FREE, RECOVERY, Products, best_mixture, honest_mixture
from shapo.rules.doubt import LEAST_KEPT, Evidence, Known
from shapo.training import train
from shapo.types import Progress


@pytest.fixture(autouse=True)
def double_precision(request):
    shipped = ("excess_is", "hinders_nobody")
    with jax.enable_x64(not any(name in request.node.name for name in shipped)):
        yield


def test_the_excess_is_per_step_of_the_episodes_that_ended(tmp_path):
    """Episodes of 25 steps, batches of 10: an episode's excess must not be spread over a batch's length."""
    experiment = TINY.replace(algo="cpo", steps_per_env=10, steps=400, cost_limit=(2.0,))
    rows = train(experiment, tmp_path / "run", env=Toy).progress
    ended = np.array(rows["episode/length"])
    assert np.isnan(ended[:2]).all() and (ended[2:] == 25).any()
    known = ~np.isnan(ended)
    excess = np.array(rows["cost/episode"]) - np.array(rows["policy/aim"])
    np.testing.assert_allclose(
        np.array(rows["policy/excess"])[known], (excess / ended)[known], rtol=1e-5, atol=1e-7
    )
    np.testing.assert_array_equal(np.array(rows["policy/excess"])[~known], 0)


def random_products(rng) -> Products:
    g, b, b_true = rng.normal(size=(3, 3))
    return Products(g @ g, g @ b, b @ b, g @ b_true, max(abs(b @ b_true), 2 * LEAST_KEPT * b @ b))


def test_the_honest_step_is_the_best_one_whose_kept_promise_covers_the_excess():
    rng, radius, met, hopeless, unlearning, slack = np.random.default_rng(0), 0.02, 0, 0, 0, 0
    solve = jax.jit(honest_mixture)
    for _ in range(600):
        products = random_products(rng)
        q, r, s, kept_r, kept_s = products
        excess = rng.normal() * np.sqrt(2 * radius * s)
        K, h, aim = np.array([[q, r], [r, s]]), np.array([kept_r, kept_s]), np.array([q, r])
        found = solve(Products(*map(jnp.asarray, products)), jnp.asarray(excess), radius)
        z = np.array([found.reward, found.cost])
        assert z @ K @ z / 2 <= radius * (1 + 1e-6)
        reach = np.linalg.solve(K, h)
        best = np.sqrt(2 * radius * (h @ reach))
        if alone := found.case == RECOVERY:
            assert excess > 0
            enough = np.clip(excess / kept_s, 0, np.sqrt(2 * radius / s))
            np.testing.assert_allclose(z, [0, enough], rtol=1e-6)
            if best < excess:  # no step in the trust region keeps that promise
                hopeless += 1
                continue
        oracle = minimize(
            lambda z, aim=aim: -aim @ z,
            reach / (h @ reach) * excess,
            jac=lambda z, aim=aim: -aim,
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
            constraints=[
                {"type": "ineq", "fun": lambda z, h=h, excess=excess: h @ z - excess},
                {"type": "ineq", "fun": lambda z, K=K: radius - z @ K @ z / 2},
            ],
        )
        if alone:
            unlearning += 1
            assert oracle.x[0] < 1e-6 * np.sqrt(2 * radius / q)
            continue
        assert h @ z >= excess - 1e-9
        if excess < 0 and oracle.x[0] < -1e-6 * np.sqrt(2 * radius / q):
            slack += 1  # unlearning would be best there: the climb alone uses the slack up
            np.testing.assert_allclose(z, [excess / kept_r, 0], rtol=1e-6)
            assert aim @ z > 0
            continue
        met += 1
        assert aim @ z >= -oracle.fun - 1e-5 * np.sqrt(2 * radius * q)  # of what can be had at all
    found = met, hopeless, unlearning, slack
    assert met > 300 and hopeless > 20 and unlearning > 20 and slack > 1, found


@pytest.mark.parametrize("scale", [0.0, 1e-20, 1e-10])
def test_within_its_limit_a_cost_without_a_gradient_hinders_nobody(scale):
    """In single precision, as shipped: products of such small numbers are lost."""
    q, r, s = (jnp.float32(x) for x in (2.0, 0.3 * scale, scale**2))
    products = Products(q, r, s, 0.1 * r, 0.1 * s)
    found = jax.jit(honest_mixture)(products, jnp.float32(-0.1), 0.02)
    np.testing.assert_allclose(found.reward, np.sqrt(0.04 / 2), rtol=1e-4)
    assert np.isfinite(found.cost) and found.case == FREE
    beyond = jax.jit(honest_mixture)(products, jnp.float32(0.1), 0.02)
    assert np.isfinite(beyond.cost) and beyond.reward == 0 and beyond.case == RECOVERY


@pytest.mark.parametrize("excess", [-0.1, 0.0, 1e-4, 1.0])
@pytest.mark.parametrize("scale", [0.0, 1e-20, 1e-16])
def test_a_reward_without_a_gradient_hinders_nobody(scale, excess):
    """It is the same wherever one goes, say: the cost is still brought down until the excess is covered."""
    q, r, s = (jnp.float32(x) for x in (scale**2, 0.3 * scale * 0.1, 0.01))
    found = jax.jit(honest_mixture)(Products(q, r, s, r, 0.1 * s), jnp.float32(excess), 0.02)
    reward, cost = map(float, found[:2])
    enough = np.clip(excess / (0.1 * 0.01), 0.0, np.sqrt(0.04 / 0.01))
    np.testing.assert_allclose(cost, enough, rtol=1e-5)
    assert reward >= 0 and reward * scale <= np.sqrt(0.04)


def test_a_promise_without_noise_is_kept_whole():
    rng = np.random.default_rng(1)
    for _ in range(50):
        q, r, s, *_ = map(jnp.asarray, random_products(rng))
        excess = jnp.asarray(rng.normal() * 0.2)
        honest = honest_mixture(Products(q, r, s, r, s), excess, 0.02)
        assert honest.reward >= 0
        for ours, theirs in zip(honest, best_mixture(q, r, s, excess, 0.02), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("shape", [(20, 10), (20, 5), (21, 1)])
def test_sides_are_halves_of_the_environments(shape):
    weights = sides(*shape)
    assert weights.shape == shape
    np.testing.assert_allclose(weights.mean(), 0, atol=1e-7)
    np.testing.assert_allclose(np.square(weights).mean(), 1, rtol=1e-6)
    if shape[1] > 1:
        assert (weights == weights[0]).all()


def test_a_single_step_has_no_sides():
    assert sides(1, 1) == 0


@pytest.mark.parametrize(("cost", "loses"), [(2.02, True), (2.0, False), (1.98, False)])
def test_reward_is_given_up_only_above_the_limit(cost, loses):
    """Not where the constraint merely binds: a climb that would use up the slack is still a climb."""
    seen = Progress(*(jnp.asarray(1.0),) * 3, jnp.asarray([cost]), jnp.asarray(1.0), 1.0)
    products = Products.believed(*map(jnp.asarray, (1.0, -0.5, 1.0)))
    found = Evidence(*map(jnp.asarray, (1.0, -0.5, 1.0, 1.0, 1.0, 1.0)))
    _, answer = Exact().solve(Known.nothing(), products, found, seen, limit=2.0, radius=0.02)
    assert answer.mixture.case == BOUND
    assert bool(answer.may_lose) == loses


@pytest.mark.parametrize(("cost", "released"), [(2.5, True), (2.0, True), (1.5, False)])
def test_as_released_gives_reward_up_at_the_limit_itself(cost, released):
    """Published code takes J_c = limit, which a limit of 0 falls makes common, for a violation; ours does not."""
    seen = Progress(*(jnp.asarray(1.0),) * 3, jnp.asarray([cost]), jnp.asarray(1.0), 1.0)
    products = Products.believed(*map(jnp.asarray, (1.0, 0.1, 1.0)))
    _, answer = AsReleased().solve((), products, None, seen, limit=2.0, radius=0.02)
    assert bool(answer.may_lose) == released
