"""A constrained problem whose answer is known, small enough to solve in a second.

The state s is ±1, the action a a number; reward −(a − 2s)² plus noise, cost a², `LENGTH` independent steps per episode.
Without a constraint the best action is 2s. With E[a²] ≤ 1 per step it is s: reward −1 per step, cost exactly at the
limit. The noise is for the multipliers: reward advantages are standardised, so without it their scale, and with it the
multiplier that balances a cost, would grow without bound as the policy becomes certain.
"""

import numpy as np

from shapo.learning.normalization import normalize
from shapo.rollout.acting import Actor
from shapo.types import Batch

LENGTH, ENVS, STEPS = 20, 25, 40
COST_LIMIT = float(LENGTH)
BEST_WITHIN_LIMIT = -float(LENGTH)


def collect(actor: Actor, rng: np.random.Generator) -> tuple[Batch, float, float]:
    """A batch under the actor, with the mean return and cost of its episodes."""
    shape = (STEPS, ENVS)
    states = rng.choice([-1.0, 1.0], (STEPS + 1, ENVS))
    obs = np.stack([states, np.ones_like(states)], -1).astype(np.float32)
    x = normalize(obs[:-1], actor.mean, actor.scale)
    for weight, bias in zip(actor.weights[:-1], actor.biases[:-1], strict=True):
        x = np.tanh(x @ weight + bias)
    mean = x @ actor.weights[-1] + actor.biases[-1]
    action = (mean + np.exp(actor.log_std) * rng.standard_normal(mean.shape)).astype(np.float32)
    expected = -((action[..., 0] - 2 * states[:-1]) ** 2)
    reward = expected + rng.standard_normal(shape)
    cost = action**2
    truncated = np.zeros(shape, bool)
    truncated[LENGTH - 1 :: LENGTH] = True
    batch = Batch(
        obs[:-1], obs[1:], action, reward.astype(np.float32), cost, np.zeros(shape, bool), truncated
    )
    episodes = STEPS // LENGTH
    return batch, expected.sum(0).mean() / episodes, cost.sum(0).mean() / episodes
