"""Rules of a user's own: only the direction of a slope counts, and what is no slope or no advantage is named."""

import typing
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from own_rules import Pair
from problems import ACT, KEY, OBS, flat, policy, progress, samples
from programs import compiled

from shapo.algorithms import PolicySearch, cpo, pcpo
from shapo.experiment import Algo, Experiment, algos
from shapo.learning import recipes
from shapo.rules.critics import Critics
from shapo.rules.epochs import Epochs
from shapo.rules.gradients import Plain, Sam
from shapo.rules.steps import TrustRegion
from shapo.words import BadInput


@pytest.mark.parametrize("algo", typing.get_args(Algo))
def test_a_rule_that_returns_no_slope_is_named(algo):
    algorithm = recipes.algorithm(Experiment(algo=algo, gradient="own_rules:Pair()"), ACT)
    params = policy()
    update = partial(jax.eval_shape, algorithm.update, params, algorithm.init(params))
    with pytest.raises(
        BadInput, match=r"rule Pair\(\) returned a tuple; return a .*Slope\(value, "
    ):
        update(samples(params), progress(), KEY)


def test_so_is_a_critics():
    critics = Critics(gradient=Pair())
    critic = jax.eval_shape(critics.init, policy().layers)
    obs, target, orders = jnp.zeros((4, OBS)), jnp.zeros(4), np.zeros((1, 1, 4), np.int32)
    with pytest.raises(BadInput, match=r"rule Pair\(\) returned a tuple"):
        jax.eval_shape(critics.fit_one, critic, obs, target, orders, progress())


@dataclass(frozen=True)
class Penalty:
    """A fixed price of cost, whose shape is left to chance."""

    combine: Callable

    def init(self):
        return ()

    def update(self, state, progress):
        return state

    def advantage(self, state, reward_advantage, cost_advantage):
        return self.combine(reward_advantage, cost_advantage)

    def metrics(self, state):
        return {}


@pytest.mark.parametrize("step", [TrustRegion(0.02), Epochs()])
@pytest.mark.parametrize(
    ("combine", "shape"),
    [
        (lambda reward, cost: reward - 0.5 * cost, r"\(120, 120\)"),
        (lambda reward, cost: -cost, r"\(120, 1\)"),
        (lambda reward, cost: reward.mean(), r"\(\)"),
        (lambda reward, cost: None, r"\(\)"),
    ],
)
def test_an_advantage_that_is_not_one_number_per_row_is_named(step, combine, shape):
    """One column of costs beside rewards without a column is a table of all pairs, and its mean is no surrogate."""
    params = policy()
    algorithm = PolicySearch(Penalty(combine), step)
    with pytest.raises(
        BadInput, match=f"objective Penalty.* advantage {shape} of 120 rows; return one"
    ):
        jax.eval_shape(
            algorithm.update, params, algorithm.init(params), samples(params), progress(), KEY
        )


@pytest.mark.parametrize("algo", [name for name in algos.TRUST_REGION if name != "cpo-as-released"])
def test_how_steep_a_slope_is_makes_no_difference_to_a_trust_region(algo):
    """Nor to what CPO and PCPO believe of it: a louder gradient promises more, and keeps no more."""
    params = policy()
    batches = [samples(params, seed=seed) for seed in (1, 2)]
    ends = []
    for factor in (1.0, 5.0):
        experiment = Experiment(
            algo=algo, gradient=f"own_rules:Louder(factor={factor})", cost_limit=(1.0,),
            cg_iterations=300, cg_tolerance=1e-10,
        )  # fmt: skip
        algorithm = compiled(recipes.algorithm(experiment, ACT))
        theta, state = params, algorithm.init(params)
        for rows in batches:
            theta, state, _ = algorithm.update(theta, state, rows, progress((1.05,)), KEY)
        ends.append(flat(theta))
    assert np.abs(ends[0] - flat(params)).max() > 1e-3
    np.testing.assert_allclose(*ends, atol=1e-5)


@pytest.mark.parametrize("make", [cpo, pcpo])
def test_reward_and_cost_may_have_a_rule_each(make):
    params = policy()
    by_rule = {}
    for name, other in (("reward", "cost"), ("cost", "reward")):
        algorithm = make(
            cost_limit=1.0, **{f"{name}_gradient": Sam(0.1), f"{other}_gradient": Plain()}
        )
        update = partial(jax.eval_shape, algorithm.update, params, algorithm.init(params))
        by_rule[name] = {
            key for key in update(samples(params), progress(), KEY)[2] if "cosine" in key
        }
    assert by_rule == {"reward": {"gradient/cosine"}, "cost": {"gradient_cost/cosine"}}
