"""Free-running hybrid against free-running MuJoCo: single paths part soon, their averages must not.

Both run through the same seeds, so the samples are not independent and episodes are compared in pairs: the error is
that of the mean difference. It is smaller than if the samples were independent, and the test stricter.

The averages must agree within 2 standard errors. Of right comparisons one in twenty does not, and there are some 80
here; whichever fails must agree on three times as many fresh seeds. Chance then fails one in 400, while a true
difference that was seen once is the more certain to be seen again.
"""

import numpy as np
import pytest

from shapo.envs import navigation
from shapo.envs.navigation.seeker import seek, seek_everything

EPISODES = 300
METRICS = ("return", "cost", "goals")
# All Point tasks where something can be touched; of the Car, which MuJoCo steps anyway, one of each kind.
IDS = (
    "SafetyPointGoal1-v0", "SafetyPointGoal2-v0", "SafetyPointButton0-v0", "SafetyPointButton1-v0",
    "SafetyPointButton2-v0", "SafetyPointPush0-v0", "SafetyPointPush1-v0", "SafetyPointPush2-v0",
    "SafetyCarGoal2-v0", "SafetyCarButton1-v0", "SafetyCarPush1-v0",
)  # fmt: skip


def _episodes(id, policy, physics, seeds, seed):
    """[seeds, 3] return, cost and goals over one episode's time in each environment."""
    env = navigation.make(id, seeds, seed, physics=physics)
    totals = np.zeros((seeds, len(METRICS)))
    for _ in range(env.horizon):
        step = env.step(policy(env))
        # A goal pays 1, everything else per step far less.
        totals += np.stack([step.reward, step.cost, step.reward > 0.5], axis=1)
    return totals


def _standard_errors_apart(id, policy, episodes, seed):
    """[3] by how many standard errors the hybrid's averages are above MuJoCo's; 0 where no pair differs."""
    hybrid, mujoco = (
        _episodes(id, policy, physics, episodes, seed) for physics in ("hybrid", "mujoco")
    )
    difference = hybrid - mujoco
    error = difference.std(axis=0, ddof=1) / np.sqrt(episodes)
    z = np.divide(difference.mean(axis=0), error, out=np.zeros(len(METRICS)), where=error > 0)
    for name, ours, theirs, apart in zip(
        METRICS, hybrid.mean(axis=0), mujoco.mean(axis=0), z, strict=True
    ):
        print(
            f"{id} {policy.__name__} {episodes} from {seed}: {name} {ours:.3f} {theirs:.3f} z {apart:+.2f}"
        )
    return z


@pytest.mark.slow
@pytest.mark.parametrize("policy", [seek, seek_everything])
@pytest.mark.parametrize("id", IDS)
def test_free_running_averages_agree(id, policy):
    suspect = np.abs(_standard_errors_apart(id, policy, EPISODES, seed=1000)) > 2
    if suspect.any():
        again = _standard_errors_apart(id, policy, 3 * EPISODES, seed=100_000)
        assert (np.abs(again[suspect]) <= 2).all()
