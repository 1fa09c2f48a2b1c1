"""The line search of constrained steps, against the same written as a loop."""

import jax
import jax.numpy as jnp
import numpy as np

from shapo.rules.constrained import go_carefully
from shapo.rules.geometry import Behaviour

TRIALS, RADIUS = 6, 1.0
REWARD_LOSS = lambda p: -p[0] + 0.5 * p[0] ** 2
COST_LOSS = lambda p: p[1] + 0.5 * p[0] * p[1]
KL = lambda p, q: 0.5 * ((p - q) ** 2).sum()


def acceptable(start, there, excess, may_lose):
    """What must hold of a point: each of the three by its own name."""
    return {
        "reward": may_lose or REWARD_LOSS(there) <= REWARD_LOSS(start),
        "cost": COST_LOSS(there) - COST_LOSS(start) <= max(-excess, 0.0),
        "kl": KL(start, there) <= RADIUS,
    }


def test_a_step_is_shortened_until_reward_cost_and_divergence_allow_it():
    search = jax.jit(
        lambda start, move, excess, may_lose: go_carefully(
            start, move, (REWARD_LOSS, COST_LOSS), (REWARD_LOSS(start), COST_LOSS(start)),
            Behaviour(lambda p: p, KL), radius=RADIUS, excess=excess, may_lose=may_lose, trials=TRIALS,
        )
    )  # fmt: skip
    rng, alone, stayed = np.random.default_rng(0), {"reward": 0, "cost": 0, "kl": 0}, 0
    for _ in range(400):
        start, move = rng.normal(size=2), 1.5 * rng.normal(size=2)
        excess, may_lose = rng.normal() / 2, rng.random() < 0.5
        fraction = 0.0
        for each in 0.8 ** np.arange(TRIALS):
            allowed = acceptable(start, start + each * move, excess, may_lose)
            if all(allowed.values()):
                fraction = each
                break
            if sum(allowed.values()) == 2:  # nothing else forbids this point
                alone[next(name for name in allowed if not allowed[name])] += 1
        stayed += fraction == 0
        found = search(*map(jnp.asarray, (start, move, excess, may_lose)))
        np.testing.assert_allclose(found.fraction, fraction, rtol=1e-6)
        np.testing.assert_allclose(found.params, start + fraction * move, rtol=1e-4, atol=1e-5)
    assert min(alone.values()) > 50 and 50 < stayed < 300, (alone, stayed)
