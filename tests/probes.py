"""A constrained problem whose answer is known, small enough to solve in a second.

The state s is ±1, the action a a number; reward −(a − 2s)² plus noise, cost a², `LENGTH` independent steps per episode.
Without a constraint the best action is 2s. With E[a²] ≤ 1 per step it is s: reward −1 per step, cost exactly at the
limit. The noise is for the multipliers: reward advantages are standardised, so without it their scale, and with it the
multiplier that balances a cost, would grow without bound as the policy becomes certain.
"""

import numpy as np
from gymnasium import spaces

from shapo.envs import Step
from shapo.envs.protocol import BatchEnv
from shapo.learning.normalization import normalize
from shapo.rollout.acting import Actor
from shapo.types import Batch

LENGTH, ENVS, STEPS = 20, 25, 40
COST_LIMIT = float(LENGTH)
BEST_WITHIN_LIMIT = -float(LENGTH)


def drawn(actor: Actor, obs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What the actor does there, exploring."""
    x = normalize(obs, actor.mean, actor.scale)
    for weight, bias in zip(actor.weights[:-1], actor.biases[:-1], strict=True):
        x = np.tanh(x @ weight + bias)
    mean = x @ actor.weights[-1] + actor.biases[-1]
    return (mean + np.exp(actor.log_std) * rng.standard_normal(mean.shape)).astype(np.float32)


def collect(actor: Actor, rng: np.random.Generator) -> tuple[Batch, float, float]:
    """A batch under the actor, with the mean return and cost of its episodes."""
    shape = (STEPS, ENVS)
    states = rng.choice([-1.0, 1.0], (STEPS + 1, ENVS))
    obs = np.stack([states, np.ones_like(states)], -1).astype(np.float32)
    action = drawn(actor, obs[:-1], rng)
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


class Line:
    """The same problem as an environment, for what must be wrapped around one; without the reward's noise."""

    id, num_envs, num_costs, horizon = "Line", ENVS, 1, LENGTH
    observation_space = action_space = spaces.Box(-np.inf, np.inf, (1,))

    def reset(self, seed):
        self.rng, self.time = np.random.default_rng(seed), 0
        return self._draw()

    def step(self, action):
        reward, cost = -((action - 2 * self.state) ** 2)[:, 0], (action**2)[:, 0]
        self.time += 1
        late, obs = np.full(ENVS, self.time % LENGTH == 0), self._draw()
        return Step(obs, reward, cost, np.zeros(ENVS, bool), late, obs)

    def _draw(self):
        self.state = self.rng.choice([-1.0, 1.0], (ENVS, 1))
        return self.state


def play(env: BatchEnv, obs: np.ndarray, actor: Actor, rng: np.random.Generator):
    """A batch in an environment, where it ended, and the mean return and cost of its episodes."""
    rows = []
    for _ in range(STEPS):
        action = drawn(actor, obs.astype(np.float32), rng)
        step = env.step(action)
        cost, flags = step.cost[:, None], (step.terminated, step.truncated)
        rows.append((obs, step.last_obs, action, step.reward, cost, *flags, step.task_reward))
        obs = step.obs
    *arrays, paid = (np.stack(column) for column in zip(*rows, strict=True))
    kept = (each if each.dtype == bool else each.astype(np.float32) for each in arrays)
    batch, episodes = Batch(*kept), STEPS // LENGTH
    return batch, obs, paid.sum(0).mean() / episodes, batch.cost.sum(0).mean() / episodes
