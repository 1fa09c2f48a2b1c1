"""What each algorithm must become in a limit, for every name in `Algo` and every gradient rule.

The algorithms are built from names, as a training builds them. A step is compiled once per gradient rule, whichever
objective it serves; limits are reached through what flows in (the episode's cost; SHAPO's radius through the
iteration), not by building another algorithm.
"""

import functools
import typing
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from problems import ACT, KEY, flat, policy, progress, samples
from programs import compiled

from shapo.experiment import Algo, Experiment, GradientRule, algos
from shapo.learning import recipes
from shapo.rules.constrained import BOUND, RECOVERY
from shapo.rules.doubt import MEMORY
from shapo.rules.multipliers import Pid
from shapo.rules.objectives import Switching
from shapo.rules.schedules import Alpha, Decay, EffectiveAlpha
from shapo.runs.resuming import depends_on_length
from shapo.words import BadInput

NAMES = typing.get_args(Algo)
RULES = typing.get_args(GradientRule)
LIMIT, RADIUS, REGION = 1.0, 1e-3, 0.02
NOW, NEVER = 0.0, np.inf
"""Iterations at which SHAPO's radius, falling as 1/√(iteration + 1), is `RADIUS` and 0."""
EXPERIMENT = Experiment(
    cost_limit=(LIMIT,), crpo_tolerance=0.5, radius_per_dim=REGION / ACT, damping_per_dim=0.1 / ACT, cg_iterations=300,
    cg_tolerance=1e-11, schedule="decay", pessimism=RADIUS / ACT, rho=0.05,
    ppo_epochs=2, ppo_minibatch=40, ppo_rate=1e-2,
)  # fmt: skip
BELOW = {"episode_cost": (-1e6,)}
ABOVE = {"episode_cost": (1e6,)}
BECOMES = {
    "trpo-lagrangian": ("trpo", [BELOW]),
    "trpo-pid": ("trpo", [BELOW]),
    "crpo": ("trpo", [{"episode_cost": (0.0,)}, {"episode_cost": (1.5,)}]),
    "cpo": ("trpo", [BELOW]),
    "cpo-as-released": ("trpo", [BELOW]),
    "pcpo": ("trpo", [BELOW]),
    "rcpo": ("npg", [BELOW]),
    "simmer": ("trpo", [{}]),
    "saute": ("trpo", [{}]),  # its constraint is in the environment (tests/envs/test_saute.py)
    "ppo-lagrangian": ("ppo", [BELOW]),
    "ppo-saute": ("ppo", [{}]),
    "ppo-pid": ("ppo", [BELOW]),
    "ipo": ("ppo", [{"episode_cost": (-np.inf,)}]),
    "p3o": ("ppo", [BELOW]),
    "cup": ("ppo", [BELOW]),
}
"""What an algorithm is where its constraint does not bind."""
MEASURED = {"trpo", "npg", "ppo", "focops"}
"""Those that become nothing else are compared with NumPy (test_shipped_path, test_ppo_update)."""
UNSEARCHED = {"npg", "rcpo"}
"""Those that do not look whether their step is as long as the Fisher matrix says."""
ROUNDING = {"cpo-as-released": 1e-5}
"""Published code adds 1e-8 to denominators, so its CPO is no better than that; every other law holds to 1e-7."""

QUICK_RULE = {
    "npg": "plain", "rcpo": "plain", "pcpo": "shapo", "p3o": "plain", "focops": "plain", "cup": "shapo",
}  # fmt: skip
"""Algorithms with a step that no other family has are programs of their own to compile, which takes its time: the slow
tests try them with every rule, the others with one."""

every_rule = pytest.mark.parametrize(
    "rule", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in RULES]
)


def with_every_rule(which):
    """(name, rule), those that share a compiled rule together."""

    def marks(name, rule):
        slow = [pytest.mark.slow] if QUICK_RULE.get(name, rule) != rule else []
        return [pytest.mark.xdist_group(rule), *slow]

    return pytest.mark.parametrize(
        ("name", "rule"),
        [pytest.param(name, rule, marks=marks(name, rule)) for rule in RULES for name in which],
    )


def slow_if_own(which):
    """The names, those that are programs of their own left to the slow tests."""
    slow = pytest.mark.slow
    return [pytest.param(name, marks=slow) if name in QUICK_RULE else name for name in which]


def update(experiment, **situation):
    return update_with(recipes.algorithm(experiment, ACT), **situation)


def update_with(
    algorithm, episode_cost=(5.0,), iteration=NOW, params=None, rows=None, remaining=1.0
):
    params = policy() if params is None else params
    rows = samples(params) if rows is None else rows
    algorithm = compiled(algorithm)
    now = progress(episode_cost, iteration=iteration, remaining=remaining)
    return algorithm.update(params, algorithm.init(params), rows, now, KEY)


def run(name, rule, **situation):
    return update(EXPERIMENT.replace(algo=name, gradient=rule), **situation)


def same(a, b, tolerance=1e-7):
    np.testing.assert_allclose(flat(a), flat(b), rtol=0, atol=tolerance)


def differ(a, b, by=1e-7):
    assert jnp.linalg.norm(flat(a) - flat(b)) > by


def test_every_algorithm_has_a_limit_or_an_oracle():
    assert {*BECOMES, *MEASURED} == set(NAMES)


@with_every_rule(NAMES)
def test_every_algorithm_moves_with_every_rule(name, rule):
    """It moves, stays finite and in its trust region, and a rule that looks elsewhere finds another step."""
    moved, _, metrics = run(name, rule)
    assert jnp.isfinite(flat(moved)).all()
    differ(moved, policy(), 1e-4)
    if name in algos.TRUST_REGION:
        beyond = 1.1 if name in UNSEARCHED else 1.0
        assert 0 < metrics["policy/kl"] <= beyond * REGION
    if rule == "shapo":
        assert 0 < metrics["gradient/kl"] <= RADIUS
        zero, _, metrics = run(name, rule, iteration=NEVER)
        assert metrics["gradient/kl"] == 0
        differ(moved, zero)


@pytest.mark.parametrize("name", [*algos.ASCENT, *algos.PID, "focops", "ipo", "crpo"])
def test_a_constraint_learns_nothing_before_an_episode_has_ended(name):
    """Its cost is not known, whatever stands for it."""
    objective = recipes.algorithm(EXPERIMENT.replace(algo=name), ACT).objective
    first = objective.init()
    differ(
        objective.metrics(objective.update(first, progress((3 * LIMIT,)))), objective.metrics(first)
    )
    later = first
    for limit in (LIMIT, 3 * LIMIT) * 10:  # of an experiment and of an algorithm passed to it
        unknown = progress((limit,))._replace(episode_length=jnp.inf)
        later = objective.update(later, unknown)
    same(objective.metrics(later), objective.metrics(first), 0)


@pytest.mark.xdist_group("plain")
@pytest.mark.parametrize("name", NAMES)
def test_what_depends_on_the_length_of_the_training_is_known(name):
    """An extended run says that it is not one long run if, and only if, it is not."""
    early, late = (flat(run(name, "plain", remaining=share)[0]) for share in (1.0, 0.5))
    assert bool(depends_on_length(EXPERIMENT.replace(algo=name))) == bool(jnp.any(early != late))


@pytest.mark.xdist_group("shapo")
@pytest.mark.parametrize("name", slow_if_own(NAMES))
def test_shapo_with_radius_zero_is_plain(name):
    same(run(name, "shapo", iteration=NEVER)[0], run(name, "plain")[0])


@with_every_rule(BECOMES)
def test_an_algorithm_whose_constraint_does_not_bind(name, rule):
    base, situations = BECOMES[name]
    for situation in situations:
        free, _, metrics = run(name, rule, **situation)
        same(free, run(base, rule)[0], ROUNDING.get(name, 1e-7))
        assert metrics.get("policy/multiplier", 0) == metrics.get("policy/reduces_cost", 0) == 0


@every_rule
def test_far_above_the_limit_only_cost_is_reduced(rule):
    rows = samples(policy())
    cost_only = rows._replace(reward_advantage=-rows.cost_advantage[:, 0])
    expected = run("trpo", rule, rows=cost_only)[0]
    for name in ("crpo", "cpo", "cpo-as-released"):
        same(run(name, rule, **ABOVE)[0], expected, ROUNDING.get(name, 1e-6))


@pytest.mark.xdist_group("plain")
def test_a_little_above_the_limit_cpo_still_climbs_reward_and_the_published_one_does_not():
    """Its excess is per episode, the cost's gradient per step: what is in reach seems to be out of it."""
    rows = samples(policy())
    costly = rows._replace(reward_advantage=rows.reward_advantage + rows.cost_advantage[:, 0])
    little = {"episode_cost": (1.5 * LIMIT,), "rows": costly}
    assert run("cpo", "plain", **little)[2]["policy/case"] == BOUND
    released, _, metrics = run("cpo-as-released", "plain", **little)
    assert metrics["policy/case"] == RECOVERY
    same(released, run("cpo-as-released", "plain", **ABOVE)[0])


@pytest.mark.parametrize(
    "name, rule",
    [
        pytest.param(name, rule, marks=pytest.mark.xdist_group(rule))
        for name, rule in (("cpo", "plain"), ("pcpo", "shapo"))
    ],
)
def test_what_is_known_of_the_noise_is_kept_from_batch_to_batch(name, rule):
    algorithm = compiled(recipes.algorithm(EXPERIMENT.replace(algo=name, gradient=rule), ACT))
    params, new = policy(), algorithm.init(policy())
    seen = lambda state, seed: algorithm.update(
        params, state, samples(params, seed), progress((5.0,)), KEY
    )[1]
    kept = lambda state: np.array(state.kept if name == "cpo" else state.step)
    first, second = seen(new, 1), seen(new, 2)
    assert (kept(first)[2:] > 0).all()
    np.testing.assert_allclose(kept(seen(first, 2)), MEMORY * kept(first) + kept(second), rtol=1e-9)


@dataclass(frozen=True)
class Falling:
    """value / (iteration + 1)."""

    value: float

    def __call__(self, progress):
        return self.value / (progress.iteration + 1)


def scheduled(rule, *names, **others):
    return replace(rule, **{name: Falling(getattr(rule, name)) for name in names}, **others)


@pytest.mark.parametrize(
    "name, rule",
    [
        pytest.param(name, rule, marks=pytest.mark.xdist_group(rule))
        for name, rule in (("trpo", "sam"), ("cpo", "plain"), ("ppo", "plain"))
    ],
)
def test_a_schedule_is_its_number_of_the_moment(name, rule):
    built = recipes.algorithm(EXPERIMENT.replace(algo=name, gradient=rule), ACT)
    match name:
        case "trpo":
            step = scheduled(built.step, "radius", gradient=scheduled(built.step.gradient, "rho"))
            built = replace(built, step=step)
        case "cpo":
            built = scheduled(built, "radius")
        case "ppo":
            loss = scheduled(built.step.loss, "clip")
            built = replace(built, step=scheduled(built.step, "rate", "stop_kl", loss=loss))
    # Only a number falls by itself as the training goes on.
    same(update_with(built, remaining=0.5)[0], run(name, rule)[0])


def test_a_tolerance_may_be_scheduled():
    switching = Switching((LIMIT,), Falling(6.0))
    np.testing.assert_allclose(switching.update(None, progress((5.0,), iteration=1)), 5 - LIMIT - 3)


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


@pytest.mark.xdist_group("plain")
def test_of_several_costs_only_those_with_weight_matter():
    """Two costs, the second far below its limit and so without multiplier: the same as the first alone."""
    params = policy()
    rows = samples(params, costs=2)
    first = rows._replace(cost_advantage=rows.cost_advantage[:, :1])
    two = EXPERIMENT.replace(algo="trpo-pid", cost_limit=(LIMIT, 70.0))
    both = update(two, episode_cost=(5.0, 0.0), params=params, rows=rows)[0]
    same(both, run("trpo-pid", "plain", params=params, rows=first)[0])

    # Of two violated costs, CRPO reduces the one that exceeds its limit more.
    second = rows._replace(cost_advantage=rows.cost_advantage[:, 1:])
    worst = EXPERIMENT.replace(algo="crpo", cost_limit=(4.0, LIMIT))
    both = update(worst, episode_cost=(5.0, 5.0), params=params, rows=rows)[0]
    same(both, run("crpo", "plain", params=params, rows=second)[0])


@pytest.mark.xdist_group("shapo")
@pytest.mark.parametrize("name", slow_if_own(algos.TRUST_REGION))
def test_a_hopeless_update_leaves_the_policy_as_it_was(name):
    """NaN slips past no line search: the step is refused, and the metrics say so.

    (PPO and its like have none; the learner refuses such batches before any algorithm sees them.)
    """
    params = policy()
    rows = samples(params)
    broken = rows._replace(
        reward_advantage=rows.reward_advantage.at[0].set(jnp.nan),
        cost_advantage=rows.cost_advantage.at[0].set(jnp.nan),
    )
    moved, _, metrics = run(name, "shapo", params=params, rows=broken)
    same(moved, params, 0)
    assert metrics["policy/fraction"] == 0


@pytest.mark.parametrize("name", ["ipo", "p3o", "focops", "cup"])
def test_several_costs_are_taken(name):
    params = policy()
    rows = samples(params, costs=2)
    algorithm = recipes.algorithm(EXPERIMENT.replace(algo=name, cost_limit=(1.0, 2.0)), ACT)
    found = jax.eval_shape(
        algorithm.update, params, algorithm.init(params), rows, progress((3.0, 4.0)), KEY
    )
    assert ("policy/multiplier_2" in found[2]) == (name != "p3o")
    assert jax.tree.structure(found[1]) == jax.tree.structure(algorithm.init(params))


@pytest.mark.parametrize(
    "name", ["trpo-lagrangian", "ppo-pid", "crpo", "ipo", "p3o", "focops", "cup"]
)
@pytest.mark.parametrize(("limits", "costs"), [((1.0, 2.0), (3.0,)), ((1.0,), (3.0, 4.0))])
def test_so_many_costs_want_as_many_limits(name, limits, costs):
    """One limit would be stretched to all costs, and of two the second's excess be that of no cost."""
    params = policy()
    rows = samples(params, costs=len(costs))
    algorithm = recipes.algorithm(EXPERIMENT.replace(algo=name, cost_limit=limits), ACT)
    update = functools.partial(jax.eval_shape, algorithm.update, params, algorithm.init(params))
    with pytest.raises(BadInput, match=rf"has {len(costs)} cost signal.*one limit for each"):
        update(rows, progress(costs), KEY)
