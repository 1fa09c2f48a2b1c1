"""What each algorithm must become in a limit, for every algorithm and gradient rule in the lists.

A program is compiled once per algorithm and rule; the limits are reached through what flows in (the episode's cost,
SHAPO's radius by a dial), not by building another algorithm.
"""

import functools
from dataclasses import dataclass

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import pytest
from problems import flat, policy, progress, samples

from shapo.algorithms import cpo, crpo, ppo, ppo_lagrangian, saute, trpo, trpo_lagrangian, trpo_pid
from shapo.rules.gradients import Plain, Sam, Shapo
from shapo.rules.multipliers import Pid
from shapo.rules.schedules import Alpha, Decay, EffectiveAlpha
from shapo.rules.steps import FisherSolver


@dataclass(frozen=True)
class Dial:
    """A radius that the test sets through `progress.iteration`."""

    def __call__(self, progress):
        return progress.iteration


RULES = {"plain": Plain(), "e-sam": Sam(0.05), "shapo": Shapo(Dial(), tolerance=1e-11)}
REGION = {"radius": 0.02, "solver": FisherSolver(damping=0.1, iterations=300, tolerance=1e-11)}
EPOCHS = {"epochs": 2, "minibatch": 40, "rate": 1e-2}
LIMIT = 1.0
RECIPES = {
    "trpo": lambda rule: trpo(gradient=rule, **REGION),
    "trpo-lagrangian": lambda rule: trpo_lagrangian(cost_limit=LIMIT, gradient=rule, **REGION),
    "trpo-pid": lambda rule: trpo_pid(cost_limit=LIMIT, gradient=rule, **REGION),
    "crpo": lambda rule: crpo(cost_limit=LIMIT, gradient=rule, tolerance=0.5, **REGION),
    "cpo": lambda rule: cpo(cost_limit=LIMIT, reward_gradient=rule, cost_gradient=rule, **REGION),
    "saute": lambda rule: saute(budget=np.inf, base=trpo(gradient=rule, **REGION)),
    "ppo": lambda rule: ppo(gradient=rule, **EPOCHS),
    "ppo-lagrangian": lambda rule: ppo_lagrangian(cost_limit=LIMIT, gradient=rule, **EPOCHS),
}
KEY = np.array([0, 3], np.uint32)
RADIUS = 1e-3

every_rule = pytest.mark.parametrize(
    "rule", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in RULES]
)


@functools.cache
def compiled(algorithm):
    return jax.jit(lambda p, s, r, n: algorithm.update(p, s, r, n, KEY))


def update(algorithm, episode_cost=(5.0,), radius=RADIUS, params=None, rows=None, **now):
    params = policy() if params is None else params
    rows = samples(params) if rows is None else rows
    now = progress(episode_cost, iteration=radius, **now)
    return compiled(algorithm)(params, algorithm.init(params), rows, now)


def run(recipe, rule, **situation):
    return update(RECIPES[recipe](RULES[rule]), **situation)


def same(a, b, tolerance=1e-7):
    np.testing.assert_allclose(flat(a), flat(b), rtol=0, atol=tolerance)


def differ(a, b, by=1e-7):
    assert jnp.linalg.norm(flat(a) - flat(b)) > by


@every_rule
@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_moves_with_every_rule(recipe, rule):
    """It moves, stays finite and in its trust region, and a rule that looks elsewhere finds another step."""
    moved, _, metrics = run(recipe, rule)
    assert jnp.isfinite(flat(moved)).all()
    differ(moved, policy(), 1e-4)
    if "ppo" not in recipe:
        assert 0 < metrics["policy/kl"] <= REGION["radius"]
    if rule == "shapo":
        assert 0 < metrics["gradient/kl"] <= RADIUS
        zero, _, metrics = run(recipe, rule, radius=0.0)
        assert metrics["gradient/kl"] == 0
        differ(moved, zero)


@pytest.mark.xdist_group("shapo")
@pytest.mark.parametrize("recipe", RECIPES)
def test_shapo_with_radius_zero_is_plain(recipe):
    same(run(recipe, "shapo", radius=0.0)[0], run(recipe, "plain")[0])


@every_rule
@pytest.mark.parametrize("cost", [0.0, 1.5])
def test_crpo_within_its_limit_and_tolerance_is_trpo(rule, cost):
    within, _, metrics = run("crpo", rule, episode_cost=(cost,))
    same(within, run("trpo", rule)[0])
    assert metrics["policy/reduces_cost"] == 0


@every_rule
def test_cpo_far_below_its_limit_is_trpo(rule):
    same(run("cpo", rule, episode_cost=(-1e6,))[0], run("trpo", rule)[0])


@every_rule
def test_cpo_and_crpo_far_above_the_limit_only_reduce_cost(rule):
    far = {"episode_cost": (1e6,)}
    same(run("cpo", rule, **far)[0], run("crpo", rule, **far)[0], 1e-6)
    rows = samples(policy())
    cost_only = rows._replace(reward_advantage=-rows.cost_advantage[:, 0])
    same(run("crpo", rule, **far)[0], run("trpo", rule, rows=cost_only)[0])


@every_rule
@pytest.mark.parametrize("recipe", ["trpo-lagrangian", "trpo-pid"])
def test_a_lagrangian_whose_multiplier_is_zero_is_trpo(recipe, rule):
    free, _, metrics = run(recipe, rule, episode_cost=(-10.0,))
    assert metrics["policy/multiplier"] == 0
    same(free, run("trpo", rule)[0])


@every_rule
def test_saute_learns_as_its_base(rule):
    same(run("saute", rule)[0], run("trpo", rule)[0], 0)


def test_pid_without_p_and_d_is_a_clipped_integral():
    pid, state = Pid(initial=0.2, kp=0.0, ki=0.1, kd=0.0), Pid(initial=0.2).init(1)
    expected = 0.2
    for cost in (3.0, -9.0, 1.0, 0.5):
        state = pid.update(state, jnp.array([cost]), jnp.array([1.0]))
        expected = max(0.0, expected + 0.1 * (cost - 1.0))
        np.testing.assert_allclose(pid.value(state), [expected], atol=1e-12)


Z = -1.2815515655446004  # Φ⁻¹(0.1)


@pytest.mark.parametrize(
    ("schedule", "value"),
    [
        (Decay(1e-3), 1e-3 / np.sqrt(25)),
        (Alpha(0.1), Z**2 / 2 / 500_000),
        (EffectiveAlpha(0.1), Z**2 / 2 / 50_000),  # progress() says a tenth are effective
    ],
)
def test_a_schedule_s_value(schedule, value):
    now = progress(iteration=24, samples=500_000.0)
    np.testing.assert_allclose(schedule(now), value)


@pytest.mark.xdist_group("shapo")
def test_of_several_costs_only_those_with_weight_matter():
    """Two costs, the second far below its limit and so without multiplier: the same as the first alone."""
    params = policy()
    rows = samples(params, costs=2)
    first = rows._replace(cost_advantage=rows.cost_advantage[:, :1])
    rule = RULES["shapo"]
    two = trpo_pid(cost_limit=(LIMIT, 70.0), gradient=rule, **REGION)
    both = update(two, episode_cost=(5.0, 0.0), params=params, rows=rows)[0]
    same(both, run("trpo-pid", "shapo", params=params, rows=first)[0])

    # Of two violated costs, CRPO reduces the one that exceeds its limit more.
    second = rows._replace(cost_advantage=rows.cost_advantage[:, 1:])
    worst = crpo(cost_limit=(4.0, LIMIT), gradient=rule, tolerance=0.5, **REGION)
    both = update(worst, episode_cost=(5.0, 5.0), params=params, rows=rows)[0]
    same(both, run("crpo", "shapo", params=params, rows=second)[0])


@pytest.mark.xdist_group("shapo")
@pytest.mark.parametrize("recipe", [name for name in RECIPES if "ppo" not in name])
def test_a_hopeless_update_leaves_the_policy_as_it_was(recipe):
    """NaN slips past no line search: the step is refused, and the metrics say so.

    (PPO has none; the learner refuses such batches before any algorithm sees them.)
    """
    params = policy()
    rows = samples(params)
    broken = rows._replace(
        reward_advantage=rows.reward_advantage.at[0].set(jnp.nan),
        cost_advantage=rows.cost_advantage.at[0].set(jnp.nan),
    )
    moved, _, metrics = run(recipe, "shapo", params=params, rows=broken)
    same(moved, params, 0)
    assert metrics["policy/fraction"] == 0
