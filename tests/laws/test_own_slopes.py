"""A gradient rule of a user's own that is none is named, wherever it is asked."""

import typing
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from own_rules import Pair
from problems import ACT, KEY, OBS, policy, progress, samples

from shapo.experiment import Algo, Experiment
from shapo.learning import recipes
from shapo.rules.critics import Critics
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
