"""Which steps are taken: as long as the line search lets them be, or as they are."""

import jax
import numpy as np
import oracle
import pytest
from own_rules import Louder
from problems import ACT, KEY, OBS, data, flat, policy, progress, samples

from shapo.rules.gradients import Plain
from shapo.rules.projections import Projected
from shapo.rules.steps import FisherSolver, LineSearch, TrustRegion, Unsearched

ROWS = 60
SOLVER = FisherSolver(0.2)
"""So few rows are solved for exactly."""
NET = oracle.Mlp(OBS, ACT)
UPHILL = Louder(-1.0)


def stepped(step, episode_cost=0.0):
    """θ before and after, and what is said of the step."""
    params = policy(hidden=())
    rows = samples(params, rows=ROWS)
    moved, _, metrics = jax.jit(step.update)(
        params, step.init(params), rows, rows.reward_advantage, progress((episode_cost,)), KEY
    )
    return *(np.asarray(flat(each), float) for each in (params, moved)), metrics, data(rows)


@pytest.mark.parametrize(
    ("step", "stays"),
    [
        (TrustRegion(0.02, UPHILL, SOLVER), True),
        (TrustRegion(0.02, UPHILL, SOLVER, Unsearched()), False),
        (Projected(1e3, 0.02, gradient=UPHILL, solver=SOLVER), True),
    ],
)
def test_who_looks_again_takes_no_step_that_raises_the_loss(step, stays):
    """A slope of a rule may point uphill; so may SHAPO's, far from the policy."""
    before, after, metrics, rows = stepped(step)
    assert (metrics["policy/fraction"] == 0) == np.array_equal(before, after) == stays
    assert stays or NET.loss(after, rows)[0] > NET.loss(before, rows)[0]


def test_a_step_that_is_too_long_for_its_loss_is_shortened_until_it_no_longer_rises():
    """Here the divergence would allow more."""
    radius = 30.0
    before, after, metrics, rows = stepped(
        TrustRegion(radius, Plain(), SOLVER, LineSearch(trials=40))
    )
    fraction = float(metrics["policy/fraction"])
    kl = lambda factor: NET.kl(before, before + factor * (after - before), rows.obs)
    loss = lambda factor: NET.loss(before + factor * (after - before), rows)[0]
    assert 0 < fraction < 1 and kl(1.0) <= radius and loss(1.0) <= loss(0.0)
    assert kl(1 / 0.8) <= radius and loss(1 / 0.8) > loss(0.0)
    np.testing.assert_allclose(metrics["policy/improvement"], loss(0.0) - loss(1.0), rtol=1e-3)
