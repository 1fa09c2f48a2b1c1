"""Free-running hybrid against free-running MuJoCo: single paths part soon, their averages must not."""

import numpy as np
import pytest

from shapo.envs import navigation
from shapo.envs.navigation.seeker import seek, seek_everything

EPISODES = 300


def _episodes(id, policy, physics):
    """[episodes, 3] return, cost and goals of one episode in each environment."""
    env = navigation.make(id, EPISODES, 1000, physics=physics)
    totals = np.zeros((EPISODES, 3))
    for _ in range(env.horizon):
        step = env.step(policy(env))
        # A goal pays 1, everything else per step far less.
        totals += np.stack([step.reward, step.cost, step.reward > 0.5], axis=1)
    return totals


@pytest.mark.slow
@pytest.mark.parametrize("policy", [seek, seek_everything])
@pytest.mark.parametrize(
    "id",
    ["SafetyPointGoal1-v0", "SafetyPointGoal2-v0", "SafetyPointButton1-v0", "SafetyPointPush1-v0"],
)
def test_free_running_averages_agree(id, policy):
    hybrid, mujoco = (_episodes(id, policy, physics) for physics in ("hybrid", "mujoco"))
    difference = np.abs(hybrid.mean(axis=0) - mujoco.mean(axis=0))
    error = np.sqrt((hybrid.var(axis=0, ddof=1) + mujoco.var(axis=0, ddof=1)) / EPISODES)
    assert (difference <= 2 * error).all(), (hybrid.mean(axis=0), mujoco.mean(axis=0), error)
