import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from problems import flat, policy, progress, samples
from scipy.stats import norm

from shapo.rules import networks, trees
from shapo.rules.geometry import Behaviour, Metric, backtrack, euclidean, fisher, steepest
from shapo.rules.gradients import Plain, Sam, Shapo
from shapo.rules.solving import Guess
from shapo.rules.steps import thinned
from shapo.rules.surrogates import policy_behaviour, surrogate

EXACT = {"iterations": 500, "tolerance": 1e-13}


def setting(seed=0, damping=0.0):
    params = policy(seed)
    rows = samples(params, seed + 1)
    behaviour = policy_behaviour(rows.obs)
    metric = fisher(behaviour, params, damping=damping, **EXACT)
    return params, rows, behaviour, metric


def dense_fisher(behaviour: Behaviour, params):
    """The Hessian of KL(π‖·) at π by brute force: two nested derivatives, no Gauss–Newton."""
    vector, unravel = jax.flatten_util.ravel_pytree(params)
    here = behaviour.outputs(params)
    divergence = lambda v: behaviour.divergence(here, behaviour.outputs(unravel(v)))
    return jax.jit(jax.hessian(divergence))(vector)


def test_fisher_product_is_the_dense_fisher():
    params, _, behaviour, metric = setting(damping=0.25)
    vector, unravel = jax.flatten_util.ravel_pytree(params)
    dense = dense_fisher(behaviour, params) + 0.25 * jnp.eye(vector.size)
    columns = jax.jit(jax.vmap(lambda e: flat(metric.apply(unravel(e)))))(jnp.eye(vector.size))
    np.testing.assert_allclose(columns.T, dense, atol=1e-12)


def test_fisher_is_the_covariance_of_the_score():
    """F = E[∇log π ∇log πᵀ]: estimated from many sampled actions, without any KL."""
    params, rows, behaviour, _ = setting()
    vector, unravel = jax.flatten_util.ravel_pytree(params)
    dense = dense_fisher(behaviour, params)

    def score(obs, action):
        log_prob = lambda v: networks.act(unravel(v), obs).log_prob(action)
        return jax.grad(log_prob)(vector)

    pi = networks.act(params, rows.obs)
    noise = jax.random.normal(jax.random.PRNGKey(7), (100, *pi.mean.shape))
    scores = jax.jit(jax.vmap(jax.vmap(score), (None, 0)))(
        rows.obs, pi.mean + jnp.exp(pi.log_std) * noise
    )
    scores = scores.reshape(-1, vector.size)
    covariance = scores.T @ scores / len(scores)
    assert jnp.linalg.norm(covariance - dense) < 0.08 * jnp.linalg.norm(dense)


def test_solve_inverts_apply_with_and_without_a_start():
    params, rows, _, metric = setting(damping=0.1)
    g = jax.grad(surrogate(rows, rows.reward_advantage))(params)
    cold = metric.solve(g)
    guess = lambda x: Guess(x, metric.apply(x))
    warm = metric.solve(g, guess(trees.add(trees.scale(0.9, cold.x), params, 0.1)))
    for solution in (cold, warm):
        np.testing.assert_allclose(flat(metric.apply(solution.x)), flat(g), atol=1e-11)
        expected = flat(g) - flat(metric.apply(solution.x))
        np.testing.assert_allclose(flat(solution.residual), expected, atol=1e-11)
    again = metric.solve(g, guess(trees.scale(3.0, cold.x)))  # right but for its length
    assert again.iterations <= 1


def test_solve_stops_on_the_residual():
    params, rows, behaviour, _ = setting()
    metric = fisher(behaviour, params, damping=0.1, iterations=500, tolerance=1e-2)
    g = jax.grad(surrogate(rows, rows.reward_advantage))(params)
    loose, tight = metric.solve(g), metric.solve(g, None, 1e-10)
    assert trees.norm(loose.residual) <= 1e-2 * trees.norm(g)
    assert trees.norm(tight.residual) <= 1e-10 * trees.norm(g)
    assert loose.iterations < tight.iterations


def test_a_sketch_spares_products_and_leaves_the_solution():
    """Solved with one state in ten first: the same x as by dense algebra, in fewer products with all of them."""
    params = policy(0)
    rows = samples(params, rows=2000)
    behaviour = policy_behaviour(rows.obs)
    vector, _ = jax.flatten_util.ravel_pytree(params)
    g = jax.grad(surrogate(rows, rows.reward_advantage))(params)
    sketch = policy_behaviour(rows.obs[thinned(len(rows.obs), 10)])
    solves = {"damping": 0.01, "iterations": 100, "tolerance": 1e-9}
    alone = fisher(behaviour, params, **solves)
    sketched = fisher(behaviour, params, **solves, sketch=sketch)
    dense = dense_fisher(behaviour, params) + 0.01 * jnp.eye(vector.size)
    expected = jnp.linalg.solve(dense, flat(g))
    np.testing.assert_allclose(flat(sketched.solve(g).x), expected, rtol=1e-6, atol=1e-6)
    good_enough = 0.02
    few, many = (metric.solve(g, None, good_enough).iterations for metric in (sketched, alone))
    assert few < many / 2, (few, many)


@pytest.mark.parametrize(("rows", "thinning"), [(20_000, 10), (23, 10), (7, 10), (64, 1)])
def test_thinned_rows_come_from_every_neighbourhood(rows, thinning):
    few = thinned(rows, thinning)
    np.testing.assert_array_equal(few // thinning, np.arange(-(-rows // thinning)))
    assert few.max() < rows
    if rows == 20_000:  # of 20 environments in turn, none is left out
        assert np.bincount(few % 20).min() > 60


@pytest.mark.parametrize("radius", [1e-6, 1.0])
@pytest.mark.parametrize("warm", [False, True])
def test_steepest_has_the_length_of_its_radius(radius, warm):
    params, rows, _, metric = setting(damping=0.1)
    g = jax.grad(surrogate(rows, rows.reward_advantage))(params)
    guess = Guess(params, metric.apply(params)) if warm else None
    d = steepest(g, metric, radius, guess=guess).move
    np.testing.assert_allclose(0.5 * trees.dot(d, metric.apply(d)), radius, rtol=1e-9)


def test_steepest_is_steepest():
    """No direction of the same length climbs faster: checked against 2,000 random ones."""
    params, rows, _, metric = setting(damping=0.1)
    g = jax.grad(surrogate(rows, rows.reward_advantage))(params)
    best = trees.dot(g, steepest(g, metric, 0.01).move)
    vector, unravel = jax.flatten_util.ravel_pytree(params)

    def climb(noise):
        v = unravel(noise)
        length = jnp.sqrt(2 * 0.01 / trees.dot(v, metric.apply(v)))
        return length * trees.dot(g, v)

    rivals = jax.jit(jax.vmap(climb))(jax.random.normal(jax.random.PRNGKey(0), (2000, vector.size)))
    assert rivals.max() < best


def test_steepest_of_a_zero_gradient_is_zero():
    params, _, _, metric = setting(damping=0.1)
    d = steepest(trees.zeros(params), metric, 0.01)
    assert trees.norm(d.move) == 0
    assert trees.is_finite(d)


def test_backtrack_takes_the_first_acceptable_fraction_or_none():
    point, move = jnp.zeros(2), jnp.ones(2)
    search = lambda limit: backtrack(
        point, move, evaluate=lambda p: p.sum(), accept=lambda total: total <= limit, trials=5
    )
    found = search(1.3)  # 2, 1.6, 1.28 ≤ 1.3
    np.testing.assert_allclose(found.fraction, 0.64)
    np.testing.assert_allclose(found.params, 0.64 * move)
    np.testing.assert_allclose(found.found, 1.28)
    np.testing.assert_allclose(search(0.82).fraction, 0.8**4)  # the last of five trials
    nothing = search(0.8)
    assert nothing.fraction == 0
    np.testing.assert_array_equal(nothing.params, point)


def test_backtrack_never_accepts_a_point_that_is_not_finite():
    found = backtrack(
        jnp.zeros(1), jnp.array([jnp.nan]), lambda p: p.sum(), lambda _: jnp.array(True), trials=3
    )
    assert found.fraction == 0
    assert found.params[0] == 0


def quadratic(seed=0):
    a = jax.random.normal(jax.random.PRNGKey(seed), (4, 4))
    return lambda p: 0.5 * p @ (a @ a.T) @ p + p.sum() ** 3


def nothing_to_do_with_it() -> tuple[Metric, Behaviour]:
    return euclidean(), Behaviour(lambda p: p, lambda p, q: jnp.sum((p - q) ** 2) / 2)


@pytest.mark.parametrize("rho", [0.05, 0.5])
def test_sam_is_optax_sam(rho):
    """One SAM step of plain gradient descent equals optax.contrib.sam's."""
    loss, params = quadratic(), jnp.arange(4.0) / 3
    adversary = optax.chain(optax.contrib.normalize(), optax.sgd(rho))
    optimizer = optax.contrib.sam(optax.sgd(0.1), adversary, sync_period=2, opaque_mode=True)
    state = optimizer.init(params)
    grads = jax.grad(loss)(params)
    updates, _ = optimizer.update(grads, state, params, grad_fn=lambda p, _: jax.grad(loss)(p))
    slope = Sam(rho)(loss, params, *nothing_to_do_with_it(), progress())
    np.testing.assert_allclose(-0.1 * slope.grads, updates, rtol=1e-10)
    np.testing.assert_allclose(slope.value, loss(params))


@pytest.mark.parametrize(("seed", "radius"), [(0, 1e-5), (1, 1e-3), (2, 0.1)])
def test_the_worst_policy_is_near_and_worse(seed, radius):
    params, rows, behaviour, metric = setting(seed, damping=0.05)
    loss = surrogate(rows, rows.reward_advantage)
    slope = Shapo(radius, tolerance=1e-10)(loss, params, metric, behaviour, progress())
    assert 0 < slope.metrics["kl"] <= radius
    assert slope.metrics["increase"] > 0
    assert slope.metrics["cosine"] < 1
    tail = norm.cdf(-np.sqrt(2 * 1000.0 * radius))  # `progress` says so many samples
    np.testing.assert_allclose(slope.metrics["alpha"], tail)
    np.testing.assert_allclose(slope.value, loss(params))


def test_shapo_ascends_by_the_paper_s_formula():
    """g̃ = ∇L(θ + √(2δ/gᵀF⁻¹g) F⁻¹g), with F⁻¹ by dense algebra."""
    params, rows, behaviour, metric = setting(damping=0.1)
    loss = surrogate(rows, rows.reward_advantage)
    vector, unravel = jax.flatten_util.ravel_pytree(params)
    matrix = dense_fisher(behaviour, params) + 0.1 * jnp.eye(vector.size)
    g = flat(jax.grad(loss)(params))
    x = jnp.linalg.solve(matrix, g)
    epsilon = jnp.sqrt(2 * 1e-4 / (g @ x)) * x
    expected = flat(jax.grad(loss)(unravel(vector + epsilon)))
    slope = Shapo(1e-4, tolerance=1e-12)(loss, params, metric, behaviour, progress())
    assert slope.metrics["fraction"] == 1
    np.testing.assert_allclose(flat(slope.grads), expected, rtol=1e-7, atol=1e-10)


def test_where_no_worst_policy_is_near_enough_the_slope_is_the_plain_one():
    params, rows, behaviour, metric = setting(damping=0.1)
    loss = surrogate(rows, rows.reward_advantage)
    far = behaviour._replace(divergence=lambda p, q: jnp.ones(()))
    slope = Shapo(1e-3)(loss, params, metric, far, progress())
    plain = Plain()(loss, params, metric, far, progress())
    np.testing.assert_array_equal(flat(slope.grads), flat(plain.grads))
    for name in ("fraction", "kl", "increase", "distance"):
        assert slope.metrics[name] == 0
    np.testing.assert_allclose(slope.metrics["cosine"], 1)


def test_shapo_in_the_euclidean_metric_is_sam():
    params, rows, behaviour, _ = setting()
    loss = surrogate(rows, rows.reward_advantage)
    wide = behaviour._replace(divergence=lambda p, q: jnp.zeros(()))  # never shorten
    slope = Shapo(0.05**2 / 2)(loss, params, euclidean(), wide, progress())
    expected = Sam(0.05)(loss, params, euclidean(), wide, progress())
    np.testing.assert_allclose(flat(slope.grads), flat(expected.grads), rtol=1e-10)


def test_reparametrising_changes_e_sam_s_worst_policy_but_not_shapo_s():
    """With θ = Sφ, a rule that sees only policies must return ∇_φ = Sᵀ∇_θ."""
    params, rows, behaviour, _ = setting()
    loss = surrogate(rows, rows.reward_advantage)
    vector, unravel = jax.flatten_util.ravel_pytree(params)
    stretch = jnp.exp(jax.random.normal(jax.random.PRNGKey(5), vector.shape))
    there = lambda phi: unravel(stretch * phi)
    phi = vector / stretch
    stretched = Behaviour(lambda phi: behaviour.outputs(there(phi)), behaviour.divergence)
    # Damping is Euclidean and would break the invariance; a trace of it keeps the singular F solvable.
    solves = {"iterations": 3000, "tolerance": 1e-9}
    exact = fisher(behaviour, params, damping=1e-9, **solves)
    other = fisher(stretched, phi, damping=1e-9, **solves)

    def both(rule):
        here = rule(loss, params, exact, behaviour, progress())
        elsewhere = rule(lambda p: loss(there(p)), phi, other, stretched, progress())
        return stretch * flat(here.grads), elsewhere.grads

    shapo_here, shapo_there = both(Shapo(1e-3, tolerance=1e-9))
    sam_here, sam_there = both(Sam(0.1))
    plain_here, plain_there = both(Plain())
    distance = lambda a, b: jnp.linalg.norm(a - b) / jnp.linalg.norm(a)
    assert distance(plain_here, plain_there) < 1e-12
    assert distance(shapo_here, shapo_there) < 1e-3
    assert distance(sam_here, sam_there) > 1e-2
