"""CPO's margin and units. (Its subproblem is checked against brute force in `tests/laws`.)"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from problems import policy, progress, samples
from test_train import TINY
from toy_env import Toy

from shapo.algorithms import cpo
from shapo.training import train


@pytest.mark.parametrize("limit", [0.0, 2.0])
def test_the_margin_never_asks_for_a_cost_below_zero(limit):
    """However long the limit is exceeded; and once it no longer is, the margin goes again."""
    algorithm = cpo(cost_limit=limit, margin_rate=0.5)
    params = policy()
    rows = samples(params)
    key = jnp.zeros(2, jnp.uint32)
    update = jax.jit(lambda state, now: algorithm.update(params, state, rows, now, key)[1:])
    margin = algorithm.init(params)
    seen = []
    for cost in [5.0] * 8 + [limit / 2] * 8:
        margin, metrics = update(margin, progress((cost,)))
        seen.append(float(metrics["policy/margin"]))
    assert max(seen) == limit
    assert seen[-1] == 0


def test_the_excess_is_per_step_of_the_episodes_that_ended(tmp_path):
    """Episodes of 25 steps, batches of 10: an episode's excess must not be spread over a batch's length."""
    experiment = TINY.replace(algo="cpo", steps_per_env=10, steps=400, cost_limit=(2.0,))
    rows = train(experiment, tmp_path / "run", env=Toy).progress
    ended = np.array(rows["episode/length"])
    assert np.isnan(ended[:2]).all() and (ended[2:] == 25).any()
    known = ~np.isnan(ended)
    excess = np.array(rows["cost/episode"]) - 2.0 + np.array(rows["policy/margin"])
    np.testing.assert_allclose(
        np.array(rows["policy/excess"])[known], (excess / ended)[known], rtol=1e-5, atol=1e-7
    )
    np.testing.assert_array_equal(np.array(rows["policy/excess"])[~known], 0)
