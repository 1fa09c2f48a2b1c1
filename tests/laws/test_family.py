"""What the steps, losses and multipliers of the wider family find, against SciPy and closed forms."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracle
import pytest
from problems import ACT, OBS, data, flat, policy, progress, samples
from scipy.optimize import approx_fprime, minimize

from shapo.rules.corrections import Corrected
from shapo.rules.gaussian import Gaussian
from shapo.rules.losses import Anchored, FirstOrder, Penalised
from shapo.rules.multipliers import Ascent, Barrier, Bounded, Pid
from shapo.rules.networks import Layer, Policy
from shapo.rules.objectives import Lagrangian
from shapo.rules.projections import way_back
from shapo.rules.surrogates import Samples, surrogate

PROBLEMS, DIM = 300, 4
NET = oracle.Mlp(OBS, ACT)
LIMIT, LENGTH = 1.0, 20.0


def projections(rng):
    """min ½ (x − y)ᵀL(x − y) subject to bᵀx + c ≤ 0, some of them met by y already."""
    roots = rng.normal(size=(PROBLEMS, DIM, DIM))
    inner = roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(DIM)
    y, b = rng.normal(size=(2, PROBLEMS, DIM))
    return inner, y, b, rng.normal(size=PROBLEMS)


@pytest.mark.parametrize("euclidean", [False, True])
def test_a_projection_is_the_nearest_point_within_the_limit(euclidean):
    inner, points, slopes, offsets = projections(np.random.default_rng(0))
    inner = np.broadcast_to(np.eye(DIM), inner.shape) if euclidean else inner
    back = np.linalg.solve(inner, slopes[..., None])[..., 0]
    cost = (slopes * points).sum(1) + offsets
    units = np.asarray(way_back(jnp.asarray(cost), jnp.asarray((slopes * back).sum(1))))
    found = points - units[:, None] * back
    assert 0.3 < np.mean(units > 0) < 0.7
    for each, x, y, b, c in zip(inner, found, points, slopes, offsets, strict=True):
        best = minimize(
            lambda x, each=each, y=y: (x - y) @ each @ (x - y) / 2,
            np.zeros(DIM),
            jac=lambda x, each=each, y=y: each @ (x - y),
            constraints={"type": "ineq", "fun": lambda x, b=b, c=c: -b @ x - c, "jac": lambda x, b=b: -b},
            method="SLSQP",
            options={"ftol": 1e-14},
        )  # fmt: skip
        np.testing.assert_allclose(x, best.x, atol=1e-5)


@functools.cache
def batches():
    """So many small batches, as one tree with a first axis, and a policy for each that has moved since."""
    rng = np.random.default_rng(1)
    start = [policy(each, hidden=()) for each in range(PROBLEMS)]
    rows = [samples(params, seed=each, rows=20) for each, params in enumerate(start)]
    moved = [jax.tree.map(lambda x: x + 0.1 * rng.normal(size=x.shape), params) for params in start]
    stack = lambda trees: jax.tree.map(lambda *xs: jnp.stack(xs), *trees)
    return start, rows, moved, tuple(map(stack, (start, rows, moved)))


def slopes(loss, start, rows, moved, now):
    """∇L of each problem, at where its policy has moved to."""
    one = lambda start, rows, moved, now: jax.grad(loss(rows, rows.reward_advantage, start, now))(
        moved
    )
    found = jax.jit(jax.vmap(one))(start, rows, moved, now)
    return np.asarray(jax.vmap(flat)(found))


def at_costs(costs):
    """Progress of each problem; all the same but for the cost."""
    same = progress()
    many = jax.tree.map(lambda x: jnp.broadcast_to(x, (PROBLEMS, *np.shape(x))), same)
    return many._replace(episode_cost=jnp.asarray(costs)[:, None])


def test_p3o_climbs_reward_and_pays_for_cost_above_the_limit_only():
    """Its gradient against SciPy's differences of the loss written in NumPy."""
    _, rows, moved, stacked = batches()
    costs = np.random.default_rng(2).normal(LIMIT, 4.0, PROBLEMS)
    rule = Penalised((LIMIT,), weight=3.0, clip=0.1, believed=0.5)
    found = slopes(rule, *stacked, at_costs(costs))
    active = 0
    for each, part, params, cost in zip(found, rows, moved, costs, strict=True):
        part, excess = data(part), (cost - LIMIT) / LENGTH / 0.5

        def value(theta, part=part, excess=excess):
            ratio = NET.ratio(theta, part)
            near = np.clip(ratio, 0.9, 1.1)
            gain = np.minimum(ratio * part.advantage, near * part.advantage).mean()
            rise = np.maximum(ratio * part.cost, near * part.cost).mean() - part.cost.mean()
            return -gain + 3.0 * max(0.0, rise + excess)

        theta = np.asarray(flat(params))
        slope = approx_fprime(theta, value, 1e-7)
        # A difference across a kink is no slope.
        if np.abs(slope - approx_fprime(theta, value, -1e-7)).max() < 1e-4:
            np.testing.assert_allclose(each, slope, atol=1e-5)
            active += value(theta) > value(theta, excess=-np.inf)
    assert 0.2 * PROBLEMS < active < 0.8 * PROBLEMS


def test_p3o_pays_for_each_cost_by_itself():
    """What one of them is below its limit makes up for nothing that another is above."""
    start, now = policy(hidden=()), policy(seed=1, hidden=())
    rows = samples(start, costs=3)
    limits, costs = (1.0, 50.0, 2.0), (3.0, 10.0, 1.9)
    part = data(rows)
    ratio = NET.ratio(np.asarray(flat(now)), part)
    near = np.clip(ratio, 0.8, 1.2)
    expected = -np.minimum(ratio * part.advantage, near * part.advantage).mean()
    overs = []
    for a, cost, limit in zip(np.asarray(rows.cost_advantage).T, costs, limits, strict=True):
        rise = np.maximum(ratio * a, near * a).mean() - a.mean()
        overs.append(rise + (cost - limit) / LENGTH / 0.5)
    assert overs[1] < 0 < overs[0] and sum(overs) < 0
    loss = Penalised(limits, weight=3.0, believed=0.5)(
        rows, rows.reward_advantage, start, progress(costs)
    )
    np.testing.assert_allclose(loss(now), expected + 3.0 * sum(max(x, 0.0) for x in overs))


def test_ipo_climbs_the_logarithmic_barrier():
    """The gradient of reward plus barrier, by SciPy's differences of both surrogates in NumPy."""
    start, rows, _, _ = batches()
    costs = np.random.default_rng(5).uniform(-3, 0.9 * LIMIT, PROBLEMS)
    objective = Lagrangian((LIMIT,), Barrier(sharpness=2.0, most=1e3))

    def one(params, rows, cost):
        state = objective.update(objective.init(), progress()._replace(episode_cost=cost[None]))
        advantage = objective.advantage(state, rows.reward_advantage, rows.cost_advantage)
        return jax.grad(surrogate(rows, advantage))(params), objective.metrics(state)["multiplier"]

    stack = lambda trees: jax.tree.map(lambda *xs: jnp.stack(xs), *trees)
    grads, multipliers = jax.jit(jax.vmap(one))(stack(start), stack(rows), jnp.asarray(costs))
    found = np.asarray(jax.vmap(flat)(grads))
    for each, multiplier, part, params, cost in zip(
        found, np.asarray(multipliers), rows, start, costs, strict=True
    ):
        part = data(part)

        def barrier(theta, part=part, cost=cost):
            """Of an episode of `LENGTH` steps, over its length."""
            ratio = NET.ratio(theta, part)
            episode = cost + LENGTH * ((ratio - 1) * part.cost).mean()
            return -(ratio * part.advantage).mean() - np.log(LIMIT - episode) / 2.0 / LENGTH

        slope = approx_fprime(np.asarray(flat(params)), barrier, 1e-7)
        np.testing.assert_allclose(each * (1 + multiplier), slope, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize(
    ("cost", "limit", "expected"),
    [(0.0, 10.0, 0.005), (10.0, 10.0, 7.0), (50.0, 10.0, 7.0), (0.0, 0.0, 7.0), (3.0, 0.0, 7.0)],
)
def test_a_barrier_is_finite_at_its_limit_and_beyond(cost, limit, expected):
    barrier = Barrier(sharpness=20.0, most=7.0)
    state = barrier.update(barrier.init(1), jnp.array([cost]), jnp.array([limit]))
    np.testing.assert_allclose(barrier.value(state), [expected])


NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
MEAN, LOG_STD = 0.3, -0.4


def one_state(mean=MEAN, log_std=LOG_STD):
    """A policy that is one Gaussian over one action, whatever the state."""
    layer = Layer(jnp.zeros((1, 1)), jnp.array([float(mean)]))
    return Policy((layer,), jnp.array([float(log_std)]))


def integral(advantage):
    """Rows whose mean is the integral over the policy's actions: the weights go into the advantages."""
    action = MEAN + np.exp(LOG_STD) * NODES
    log_prob = -0.5 * NODES**2 - LOG_STD - 0.5 * np.log(2 * np.pi)
    weighted = advantage(action) * WEIGHTS / WEIGHTS.sum() * len(NODES)
    ones = np.ones((len(NODES), 1))
    arrays = ones, action[:, None], log_prob, weighted, weighted[:, None], ones[:, 0]
    return Samples(*map(jnp.asarray, arrays))


@pytest.mark.parametrize(("mean", "log_std"), [(0.3, -0.4), (0.5, -0.3), (0.1, -0.6)])
def test_focops_comes_closer_to_the_best_policy_nearby(mean, log_std):
    """For A = pa − ca²/2, π* ∝ π₀ exp(A/λ) is a Gaussian, and the loss has the slope of KL(π‖π*)."""
    temperature, p, c = 1.5, 0.8, 0.6
    rows = integral(lambda a: p * a - c * a**2 / 2)
    loss = FirstOrder(temperature, region=10.0)(
        rows, rows.reward_advantage, one_state(), progress()
    )
    precision = np.exp(-2 * LOG_STD)
    variance = 1 / (precision + c / temperature)
    best = Gaussian(
        jnp.array([variance * (MEAN * precision + p / temperature)]),
        jnp.array([np.log(variance) / 2]),
    )
    here = one_state(mean, log_std)
    towards = lambda params: Gaussian(params.layers[0].bias, params.log_std).divergence(best)
    slope = jax.jit(jax.grad(loss))
    found, expected = slope(here), jax.jit(jax.grad(towards))(here)
    for of in (lambda tree: tree.layers[0].bias, lambda tree: tree.log_std):
        np.testing.assert_allclose(of(found), of(expected), rtol=1e-6)
    there = Policy((Layer(jnp.zeros((1, 1)), best.mean),), best.log_std)
    np.testing.assert_allclose(flat(slope(there)), 0.0, atol=1e-7)


def test_focops_leaves_states_alone_where_the_policy_has_gone_too_far():
    rows = integral(lambda a: a)
    rule = FirstOrder(1.5, region=1e-3)
    loss = jax.jit(rule(rows, rows.reward_advantage, one_state(), progress()))
    assert float(loss(one_state(MEAN + 0.5))) == 0.0 != float(loss(one_state(MEAN + 1e-3)))


def test_cup_s_projection_ends_where_its_closed_form_is():
    """For A_c = pa: μ = μ½ − νpσ², σ² = σ½² + (μ − μ½)², which is a quadratic equation for σ²."""
    price = 0.3
    rows = integral(lambda a: a)
    half = one_state(0.5, -0.5)
    loss = Anchored()(rows, -price * rows.cost_advantage[:, 0], half, progress())
    s = np.exp(2 * -0.5)
    variance = (1 - np.sqrt(1 - 4 * price**2 * s)) / (2 * price**2)
    there = one_state(0.5 - price * variance, np.log(variance) / 2)
    loss, slope = jax.jit(loss), jax.jit(jax.grad(loss))
    np.testing.assert_allclose(flat(slope(there)), 0.0, atol=1e-7)
    assert float(loss(there)) < float(loss(half))


class Leap:
    """A step of fixed length, whatever the advantage."""

    def __init__(self, length):
        self.length = length

    def init(self, params):
        return ()

    def update(self, params, state, samples, advantage, progress, key):
        return jax.tree.map(lambda leaf: leaf + self.length, params), state, {}


@pytest.mark.parametrize("region", [1e-3, 1e-1, 1e3])
def test_cup_s_correction_goes_no_further_than_its_region(region):
    start = policy(hidden=())
    rows, theta = samples(start), np.asarray(flat(start), float)
    step = Corrected(Leap(0.0), Leap(-0.5), (1.0,), Bounded(initial=2.0), region=region)
    moved, _, metrics = step.update(
        start, step.init(start), rows, rows.reward_advantage, progress(), jax.random.key(0)
    )
    kl = lambda fraction: NET.kl(theta, theta - 0.5 * fraction, np.asarray(rows.obs))
    fraction = float(metrics["correction/fraction"])
    np.testing.assert_allclose(flat(moved), theta - 0.5 * fraction, rtol=1e-12)
    np.testing.assert_allclose(metrics["correction/kl"], kl(fraction), rtol=1e-9)
    assert kl(fraction) <= region, "within"
    assert fraction == 1 or kl(fraction / 0.8) > region, "and as far as that allows"


class Counting(Leap):
    """A leap that knows how often it was made, and says what it was told."""

    def init(self, params):
        return jnp.zeros(())

    def update(self, params, state, samples, advantage, progress, key):
        moved, _, _ = super().update(params, (), samples, advantage, progress, key)
        told = {
            "policy/told": advantage @ samples.obs[:, 0],
            "policy/noise": jax.random.uniform(key),
        }
        return moved, state + self.length, told


def test_cup_s_second_step_begins_where_the_first_ended_and_remembers_its_own():
    """It goes down the costs that have a price, and that one of two has one is enough."""
    start = policy(hidden=())
    rows = samples(start, costs=2)
    step = Corrected(
        Counting(0.5), Counting(-0.1), (1.0, 100.0), Bounded(0.0, rate=0.01), weight=6.0, region=1e3
    )
    update, theta, state = jax.jit(step.update), start, step.init(start)
    for price in (0.02, 0.04):  # the first cost is 2 above its limit
        was = theta
        theta, state, metrics = update(
            theta, state, rows, rows.reward_advantage, progress((3.0, 5.0)), jax.random.key(0)
        )
        np.testing.assert_allclose(metrics["policy/multiplier_1"], price)
        climbed = -6.0 * price * np.asarray(rows.cost_advantage)[:, 0]
        np.testing.assert_allclose(metrics["correction/told"], climbed @ np.asarray(rows.obs)[:, 0])
        assert metrics["policy/noise"] != metrics["correction/noise"]
        before, after, obs = (np.asarray(each) for each in (flat(was), flat(theta), rows.obs))
        np.testing.assert_allclose(metrics["policy/kl"], NET.kl(before, after, obs))
    np.testing.assert_allclose(flat(theta), np.asarray(flat(start)) + 2 * (0.5 - 0.1))
    np.testing.assert_allclose([state.climb, state.correct], [1.0, -0.2])


@pytest.mark.parametrize("multiplier", [Ascent(), Bounded(), Pid()])
def test_cup_s_multiplier_learns_nothing_before_an_episode_has_ended(multiplier):
    """The limit stands for its cost then; a controller would see a rise, and Adam a slope of 0."""
    start = policy(hidden=())
    rows, step = samples(start), Corrected(Leap(0.0), Leap(-0.5), (LIMIT,), multiplier)
    update = jax.jit(
        lambda state, now: step.update(
            start, state, rows, rows.reward_advantage, now, jax.random.key(0)
        )[1]
    )
    first = step.init(start)
    later, unknown = first, progress((LIMIT,))._replace(episode_length=jnp.asarray(jnp.inf))
    for _ in range(5):
        later = update(later, unknown)
    now = progress((3 * LIMIT,))
    jax.tree.map(np.testing.assert_array_equal, update(later, now), update(first, now))
