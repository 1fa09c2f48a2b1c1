"""How several advantages become one, with each cost's own weight."""

import jax.numpy as jnp
import numpy as np

from shapo.rules.multipliers import Bounded
from shapo.rules.objectives import Lagrangian, Switching, Unscaled


def test_a_lagrangian_weighs_every_cost_and_keeps_its_size():
    rng, prices = np.random.default_rng(0), np.array([0.5, 2.0, 0.0])
    reward, costs = rng.normal(size=7), rng.normal(size=(7, 3))
    by_hand = [r - sum(price * c for price, c in zip(prices, row, strict=True))
               for r, row in zip(reward, costs, strict=True)]  # fmt: skip
    lagrangian = Lagrangian((1.0, 1.0, 1.0), Bounded())
    found = lambda rule: rule.advantage(
        jnp.asarray(prices), jnp.asarray(reward), jnp.asarray(costs)
    )
    np.testing.assert_allclose(found(Unscaled(lagrangian)), by_hand, rtol=1e-5)
    np.testing.assert_allclose(found(lagrangian), np.array(by_hand) / 3.5, rtol=1e-5)


def test_of_several_costs_the_one_that_is_furthest_above_its_limit_is_reduced():
    rng = np.random.default_rng(1)
    reward, costs = jnp.asarray(rng.normal(size=5)), jnp.asarray(rng.normal(size=(5, 3)))
    found = lambda *excess: Switching((1.0,) * 3).advantage(jnp.array(excess), reward, costs)
    np.testing.assert_array_equal(found(0.1, 0.5, -9.0), -costs[:, 1])
    np.testing.assert_array_equal(found(-1.0, -2.0, 0.5), -costs[:, 2])
    np.testing.assert_array_equal(found(0.0, -2.0, -0.5), reward)
