"""CPO's closed form against an optimum found by brute force, in every case."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

from shapo.algorithms.cpo_as_released import released_mixture
from shapo.rules.constrained import BOUND, FREE, RECOVERY, best_mixture

DIM = 4


def problem(rng):
    """min gᵀx, bᵀx + c ≤ 0, ½xᵀHx ≤ δ, with c scaled so that all cases come up."""
    root = rng.normal(size=(DIM, DIM))
    h = root @ root.T + 0.3 * np.eye(DIM)
    g, b = rng.normal(size=(2, DIM))
    radius = 10 ** rng.uniform(-3, -1)
    reach = np.sqrt(2 * radius * (b @ np.linalg.solve(h, b)))  # how much bᵀx can change
    return h, g, b, rng.uniform(-1.5, 1.5) * reach, radius


def step(mixture, h, g, b, c, radius):
    hg, hb = np.linalg.solve(h, g), np.linalg.solve(h, b)
    found = mixture(*map(jnp.asarray, (g @ hg, g @ hb, b @ hb, c)), radius)
    return -(float(found.reward) * hg + float(found.cost) * hb), int(found.case)


def brute_force(h, g, b, c, radius):
    """In y with x = L⁻ᵀy the trust region is a ball; SLSQP from a feasible point, several starts."""
    root = np.linalg.cholesky(h)
    to_x = lambda y: np.linalg.solve(root.T, y)
    constraints = [
        {"type": "ineq", "fun": lambda y: radius - 0.5 * y @ y, "jac": lambda y: -y},
        {
            "type": "ineq",
            "fun": lambda y: -(b @ to_x(y)) - c,
            "jac": lambda y: -np.linalg.solve(root, b),
        },
    ]
    gy, by = np.linalg.solve(root, g), np.linalg.solve(root, b)
    feasible = -max(c, 0.0) / (by @ by) * by
    best = np.inf
    for start in (feasible, feasible - 1e-2 * np.sqrt(radius) * gy):
        found = minimize(
            lambda y: g @ to_x(y), start, jac=lambda y: gy, constraints=constraints, method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )  # fmt: skip
        ok = 0.5 * found.x @ found.x <= radius * (1 + 1e-6) and by @ found.x + c <= 1e-7
        best = min(best, found.fun) if ok else best
    return best


def test_the_step_is_the_optimum_in_every_case():
    rng = np.random.default_rng(0)
    seen = {RECOVERY: 0, FREE: 0, BOUND: 0}
    solve = jax.jit(best_mixture)
    for _ in range(600):
        h, g, b, c, radius = problem(rng)
        x, case = step(solve, h, g, b, c, radius)
        seen[case] += 1
        assert 0.5 * x @ h @ x <= radius * (1 + 1e-9)
        if case == RECOVERY:
            # Nothing in the trust region meets the constraint, and nothing reduces the cost more.
            lowest = c - np.sqrt(2 * radius * (b @ np.linalg.solve(h, b)))
            assert lowest > 0
            np.testing.assert_allclose(b @ x + c, lowest, rtol=1e-9)
        else:
            assert b @ x + c <= 1e-9
            optimum = brute_force(h, g, b, c, radius)
            reach = np.sqrt(2 * radius * (g @ np.linalg.solve(h, g)))  # how much gᵀx can change
            np.testing.assert_allclose(g @ x, optimum, rtol=0, atol=1e-5 * reach)
    assert min(seen.values()) > 60, seen


def test_no_cost_gradient_means_trpo_below_the_limit():
    found = best_mixture(
        jnp.asarray(4.0), jnp.asarray(0.0), jnp.asarray(0.0), jnp.asarray(-1.0), 0.02
    )
    np.testing.assert_allclose([found.reward, found.cost], [np.sqrt(0.04 / 4), 0.0], atol=1e-12)


def test_parallel_gradients_do_not_divide_by_zero():
    """g = b: the plane leaves no direction to improve along."""
    one = jnp.asarray(1.0)
    for c in (-0.1, 0.0, 0.1):
        found = best_mixture(one, one, one, jnp.asarray(c), 0.02)
        assert np.isfinite([found.reward, found.cost]).all()


def test_the_published_dual_is_not_the_optimum():
    """Why `AsReleased` is kept apart: with a feasible recovery it breaks the constraint it is there for."""
    rng = np.random.default_rng(1)
    solve = jax.jit(released_mixture)
    broken = total = 0
    while total < 50:
        h, g, b, c, radius = problem(rng)
        if c <= 0 or c**2 / (b @ np.linalg.solve(h, b)) > 2 * radius:
            continue
        x, _ = step(solve, h, g, b, c, radius)
        total += 1
        broken += b @ x + c > 1e-6
    assert broken == total


def published(q, r, s, c, radius):
    """The step as published code finds it, case by case, and which it is; there r is that of an ascent."""
    r, small = -r, 1e-8
    a, b = q - r**2 / (s + small), 2 * radius - c**2 / (s + small)
    if b < 0:
        step = (0.0, np.sqrt(2 * radius / s)) if c >= 0 else (np.sqrt(2 * radius / q), 0.0)
        return *step, c < 0, None
    clamp = lambda x, low, high: min(max(x, low), high)
    border, lam_a, lam_b = r / (c + small), np.sqrt(max(a, 0.0) / b), np.sqrt(q / (2 * radius))
    if c < 0:
        lam_a, lam_b = clamp(lam_a, 0.0, border), clamp(lam_b, border, np.inf)
    else:
        lam_a, lam_b = clamp(lam_a, border, np.inf), clamp(lam_b, 0.0, border)
    f_a = -0.5 * (a / (lam_a + small) + b * lam_a) - r * c / (s + small)
    f_b = -0.5 * (q / (lam_b + small) + 2 * radius * lam_b)
    lam = lam_a if f_a >= f_b else lam_b
    nu = max(lam * c - r, 0.0) / (s + small)
    return 1 / (lam + small), nu / (lam + small), c < 0, f_a >= f_b


def test_the_published_dual_is_followed_case_by_case():
    rng, cases = np.random.default_rng(2), {}
    solve = jax.jit(released_mixture)
    for _ in range(400):
        h, g, b, c, radius = problem(rng)
        hg, hb = np.linalg.solve(h, g), np.linalg.solve(h, b)
        numbers = g @ hg, g @ hb, b @ hb, c
        found = solve(*map(jnp.asarray, numbers), radius)
        *expected, below, first = published(*numbers, radius)
        np.testing.assert_allclose([found.reward, found.cost], expected, rtol=1e-6)
        cases[below, first] = cases.get((below, first), 0) + 1
    assert len(cases) == 6 and min(cases.values()) > 10, cases


@pytest.mark.parametrize("c", [-10.0, 10.0])
def test_far_from_the_limit_the_published_dual_agrees(c):
    numbers = [jnp.asarray(x) for x in (2.0, 0.3, 1.0, c)]
    ours, theirs = best_mixture(*numbers, 0.02), released_mixture(*numbers, 0.02)
    np.testing.assert_allclose([ours.reward, ours.cost], [theirs.reward, theirs.cost], rtol=1e-6)
