"""What many batches know about the noise of each."""

import jax
import jax.numpy as jnp
import numpy as np
import oracle
import pytest
from jax.flatten_util import ravel_pytree
from problems import ACT, OBS, data, flat, policy, progress, samples

from shapo.learning.advantages import sides
from shapo.rules.constrained import Products
from shapo.rules.doubt import LEAST_KEPT, MEMORY, Evidence, Followed, Kept, Known, Margin, evidence
from shapo.rules.gradients import Slope
from shapo.rules.projections import in_kl, in_l2
from shapo.rules.solving import Guess
from shapo.rules.steps import FisherSolver

ROWS, TRUTH = 200, np.full(400, 0.02)
"""Gradients are means over rows of truth + noise, of which the noise is the larger part."""


def promises(rng, envs=10, bolder=0.0):
    """Of one batch whose cost gradient is noisy and whose reward gradient is −truth; F = I.

    A rule that is `bolder` finds b larger in the batch's own direction, as who looks where the batch is worst does.
    """
    steps = ROWS // envs
    per_row = TRUTH + rng.normal(size=(steps * envs, TRUTH.size))
    b, e = per_row.mean(0), sides(steps, envs).reshape(-1) @ per_row / len(per_row)
    q, s, louder = TRUTH @ TRUTH, b @ b, 1 + bolder * (b @ b)
    found = np.sqrt(q * s), -TRUTH @ b, s, s - e @ e, 1.0, louder
    products = q, -TRUTH @ b * louder, s * louder**2
    return Products.believed(*map(jnp.float32, products)), Evidence(*map(jnp.float32, found))


@pytest.mark.parametrize("envs", [10, 5, 3])
def test_what_two_halves_agree_about_is_what_another_batch_confirms(envs):
    """bᵀb is overestimated by the noise, its kept part is not; nor where one half is larger."""
    rng = np.random.default_rng(2)
    found = [promises(rng, envs)[1] for _ in range(300)]
    kept = np.array([each.kept_s for each in found])
    assert np.mean([each.promised_s for each in found]) > 10 * TRUTH @ TRUTH
    assert abs(kept.mean() - TRUTH @ TRUTH) < 3 * kept.std() / np.sqrt(len(kept))


def test_many_batches_know_better_than_one_what_counts():
    rng, kept, seen = np.random.default_rng(3), Kept.unknown(), jax.jit(Kept.seen)
    counted, alone = [], []
    for batch in range(300):
        products, found = promises(rng)
        kept = seen(kept, found)
        if batch == 0:  # nothing else is known
            expected = products._replace(kept_r=found.kept_r, kept_s=found.kept_s)
            np.testing.assert_allclose(kept.counted(products, found), expected, rtol=1e-5)
        if batch >= 100:
            counted.append(kept.counted(products, found))
            alone.append(found)
    truth = TRUTH @ TRUTH
    error = lambda products: np.std([float(each.kept_s) for each in products])
    np.testing.assert_allclose(np.mean([each.kept_s for each in counted]), truth, rtol=0.2)
    np.testing.assert_allclose(np.mean([each.kept_r for each in counted]), -truth, rtol=0.2)
    assert error(counted) < error(alone) / 4


@pytest.mark.parametrize("bolder", [0.0, 0.5, 5.0])
def test_who_looks_where_the_batch_is_worst_is_believed_no_more_than_is_true(bolder):
    """The truth of a direction F⁻¹b̃ is what the true gradient says of it; the noise of b does not tell that of b̃."""
    rng, kept = np.random.default_rng(5), Kept.unknown()
    believed, promised, louder = [], [], []
    for batch in range(300):
        products, found = promises(rng, bolder=bolder)
        kept = kept.seen(found)
        if batch >= 100:
            believed.append(float(kept.counted(products, found).kept_s))
            promised.append(float(products.s - (found.promised_s - found.kept_s)))
            louder.append(float(found.along_s))
    true = TRUTH @ TRUTH * np.mean(louder)  # b̃ is b, so much louder, and b is the truth on average
    np.testing.assert_allclose(np.mean(believed), true, rtol=0.25)
    assert not bolder or np.mean(promised) > 4 * true, (
        "as if the noise were that of the plain gradient"
    )


def test_nothing_is_believed_to_be_truer_than_it_can_be():
    """In one batch two halves may agree about more than either says."""
    one = jnp.float32(1)
    for sign in (-1, 1):
        products = Products.believed(one, 0.1 * one, one)
        found = Evidence(one, 3 * sign * one, one, 2 * one, one, one)
        counted = Kept.unknown().seen(found).counted(products, found)
        np.testing.assert_allclose([counted.kept_r, counted.kept_s], [sign, 1], rtol=1e-6)


@pytest.mark.parametrize("nearness", [in_kl, in_l2])
def test_evidence_is_that_of_dense_algebra(nearness):
    """Of rules whose slopes are others than the plain ones, in either sense of near."""
    params = policy()
    rows, theta = samples(params, rows=60), np.asarray(flat(params), float)
    net, unravel = oracle.Mlp(OBS, 6, ACT), ravel_pytree(params)[1]
    advantages = rows.reward_advantage, -rows.cost_advantage[:, 0]
    slope = lambda advantage: net.loss(theta, data(rows, advantage))[1]
    g, b = map(slope, advantages)
    g_noise, b_noise = (slope(rows.side * each) for each in advantages)
    rng = np.random.default_rng(0)
    g_rule, b_rule = (
        each + np.linalg.norm(each) * rng.normal(size=each.size) / 20 for each in (g, b)
    )
    F = net.fisher(theta, np.asarray(rows.obs, float), 0.1)
    L = F if nearness is in_kl else np.eye(len(F))
    solve = np.linalg.solve

    def followed(advantage, rule, M):
        grads, natural = (unravel(jnp.float32(each)) for each in (rule, solve(M, rule)))
        return Followed(advantage, Slope(jnp.zeros(()), grads, None, {}), Guess(natural, grads))

    @jax.jit
    def found(reward, cost):
        metric = FisherSolver(0.1).metric(rows, params)  # exact for so few rows
        near = nearness(metric)
        return evidence(params, rows, reward, cost, metric, None if near is metric else near)

    climb, back = solve(F, g), solve(L, b)
    expected = Evidence(
        promised_r=np.sqrt(climb @ L @ climb * (b @ back)),
        kept_r=b @ climb - b_noise @ solve(F, g_noise),
        promised_s=b @ back,
        kept_s=b @ back - b_noise @ solve(L, b_noise),
        along_r=g @ solve(F, g_rule) / (g @ climb),
        along_s=b @ solve(L, b_rule) / (b @ back),
    )
    ours = found(followed(advantages[0], g_rule, F), followed(advantages[1], b_rule, L))
    np.testing.assert_allclose(ours, expected, rtol=2e-3)


def test_pure_noise_still_has_a_direction():
    one = jnp.float32(1)
    products, found = Products.believed(one, one, one), Evidence(one, one, one, -one, one, one)
    assert Kept.unknown().seen(found).counted(products, found).kept_s == jnp.float32(LEAST_KEPT)


def test_nor_is_a_direction_that_leads_back_counted_as_progress():
    """A slope that is turned by more than a right angle promises to raise the cost, and CPO divides by the promise."""
    one = jnp.float32(1)
    products, found = Products.believed(one, one, one), Evidence(one, one, one, one, one, -one)
    assert 0 < Kept.unknown().seen(found).counted(products, found).kept_s < 1e-30


@pytest.mark.parametrize("limit", [2.0, 10.0])
def test_a_margin_is_what_its_rule_says(limit):
    """The spread is the weighted mean of half the squared differences, the newest counting most."""
    costs = np.random.default_rng(6).normal(10.0, 4.0, 60)
    margin, seen, share = Margin.unknown(), jax.jit(Margin.seen), 0.0
    jumps = np.diff(costs, prepend=costs[0])
    for batch, cost in enumerate(costs):
        margin = seen(margin, jnp.float32(cost), limit)
        weights = MEMORY ** np.arange(batch, -1.0, -1)
        spread = np.sqrt(np.average(jumps[: batch + 1] ** 2 / 2, weights=weights))
        deviations = (cost - limit) / max(spread, 1e-6)
        share = np.clip(share + 0.05 * np.clip(deviations, -1, 1), 0, 1)
        found = margin.share, margin.below(limit)
        expected = share, max(limit - share * spread, 0.0)
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(("window", "per_batch"), [(20, 20), (50, 20), (100, 20), (0, 1 / 3)])
def test_the_spread_is_that_of_a_batch_s_cost_however_few_of_its_episodes_are_new(
    window, per_batch
):
    """A mean over a window shares episodes with the one before, and is the same where none has ended."""
    rng, margin, seen = np.random.default_rng(5), Margin.unknown(), jax.jit(Margin.seen)
    episodes, variances = rng.normal(10, 4, 200), []
    for batch in range(int(4000 / min(per_batch, 1))):
        new = int((batch + 1) * per_batch) - int(batch * per_batch)
        episodes = np.concatenate([episodes, rng.normal(10, 4, new)])[-200:]
        counted = window or 1
        margin = seen(margin, episodes[-counted:].mean(), 0.0, min(new / counted, 1.0))
        variances.append(margin.variance / jnp.maximum(margin.weight, 1e-6))
    np.testing.assert_allclose(np.mean(variances[500:]), 4**2 / (window or 1), rtol=0.1)


def hover(limit, spread, climb, retreat, aimed, batches=4000):
    """The mean cost of whoever climbs if the measured cost is below the aim, and retreats if it is above."""
    rng, margin, seen = np.random.default_rng(4), Margin.unknown(), jax.jit(Margin.seen)
    cost, costs = limit, []
    for _ in range(batches):
        measured = cost + spread * rng.normal()
        margin = seen(margin, measured, limit)
        cost += climb if measured < (margin.below(limit) if aimed else limit) else -retreat
        costs.append(cost)
    return np.mean(costs[batches // 4 :])


def test_a_cost_that_rises_faster_than_it_falls_is_held_at_its_limit():
    above = hover(10.0, 4.0, climb=1.0, retreat=0.4, aimed=False)
    assert above > 12
    assert abs(hover(10.0, 4.0, climb=1.0, retreat=0.4, aimed=True) - 10) < 0.3


@pytest.mark.parametrize("limit", [0.0, 10.0])
def test_a_margin_does_not_wind_up(limit):
    """However long the cost was far too high, the aim is no lower than one spread, and never below 0."""
    margin = Margin.unknown()
    for batch in range(100):
        margin = margin.seen(jnp.float32(1000 + batch % 2), limit)
    assert margin.share == 1
    assert max(limit - 1, 0) <= margin.below(limit) <= limit
    for _ in range(21):
        margin = margin.seen(jnp.float32(-1000), limit)
    assert margin.share == 0


def test_nobody_aims_lower_because_of_a_cost_that_is_not_known():
    """Before an episode has ended its limit stands for it: the first that is known would look like a great jump."""
    (_, found), limit = promises(np.random.default_rng(0)), 25.0
    seen = lambda known, now: known.seen(found, now, limit)
    waited = Known.nothing()
    for _ in range(10):
        waited = seen(waited, progress((limit,))._replace(episode_length=jnp.inf))
    assert waited.margin == Margin.unknown()
    assert waited.excess(progress((limit,))._replace(episode_length=jnp.inf), limit) == 0
    first = progress((60.0,))
    assert seen(waited, first).margin == seen(Known.nothing(), first).margin
