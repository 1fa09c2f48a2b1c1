"""What PCPO goes back for is what the climb really costs, in either sense of near."""

import jax.numpy as jnp
import numpy as np
import oracle
import pytest
from problems import ACT, KEY, OBS, ROWS, flat, policy, progress, samples

from shapo.rules.projections import Projected, in_kl, in_l2
from shapo.rules.steps import FisherSolver

RADIUS, DAMPING, LENGTH, LIMIT = 0.02, 0.1, 20, 0.7
SOLVER = FisherSolver(DAMPING, iterations=200, tolerance=1e-6)


@pytest.mark.parametrize("nearness", [in_kl, in_l2])
def test_what_two_halves_agree_about_counts_in_full(nearness):
    """Reward rises only where cost does, so a climb does to the cost as much as it can."""
    params = policy()._replace(log_std=jnp.ones(ACT))
    rows = samples(params)
    rows = rows._replace(side=jnp.zeros(ROWS), cost_advantage=-rows.reward_advantage[:, None])
    step = Projected(LIMIT, RADIUS, nearness, solver=SOLVER)

    net, theta = oracle.Mlp(OBS, 6, ACT), np.asarray(flat(params), float)
    seen = rows.obs, rows.action, rows.log_prob, rows.reward_advantage, np.zeros(ROWS)
    seen = oracle.Data(*(np.asarray(each, float) for each in seen))
    g = net.loss(theta, seen)[1]
    q = g @ np.linalg.solve(net.fisher(theta, seen.obs, DAMPING), g)
    s = q if nearness is in_kl else g @ g
    assert q >= s  # in parameters alone the climb is further than its promise says
    saved = np.sqrt(2 * RADIUS * q)

    now = progress((LIMIT + 1.5 * saved * LENGTH,))
    *_, metrics = step.update(params, step.init(params), rows, rows.reward_advantage, now, KEY)
    np.testing.assert_allclose(metrics["policy/projected"], 0.5 * saved / s, rtol=1e-3)
