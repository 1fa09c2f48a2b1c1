"""Locomotion against Gymnasium's own environments, bit for bit."""

import gymnasium
import numpy as np
import pytest

from shapo import envs
from shapo.envs.locomotion import robots
from shapo.envs.locomotion.env import Locomotion

ROBOTS = ["Ant", "HalfCheetah", "Hopper", "Humanoid", "Swimmer", "Walker2d"]
# Safety-Gymnasium's thresholds and axes, as its specification gives them.
LIMITS = {
    "SafetyAntVelocity-v0": (2.5745, 2),
    "SafetyAntVelocity-v1": (2.6222, 2),
    "SafetyHalfCheetahVelocity-v0": (2.8795, 1),
    "SafetyHalfCheetahVelocity-v1": (3.2096, 1),
    "SafetyHopperVelocity-v0": (0.37315, 1),
    "SafetyHopperVelocity-v1": (0.7402, 1),
    "SafetyHumanoidVelocity-v0": (2.3475, 2),
    "SafetyHumanoidVelocity-v1": (1.4149, 2),
    "SafetySwimmerVelocity-v0": (0.04845, 2),
    "SafetySwimmerVelocity-v1": (0.2282, 1),
    "SafetyWalker2dVelocity-v0": (1.7075, 1),
    "SafetyWalker2dVelocity-v1": (2.3415, 1),
}


@pytest.fixture(autouse=True)
def _away_from_the_sources(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log where Gymnasium loads half_cheetah.xml


def reference(id: str) -> gymnasium.Env:
    with pytest.warns(DeprecationWarning, match="out of date"):
        return gymnasium.make(id)


def compare(id: str, steps: int, num_envs: int = 2, seed: int = 11) -> int:
    """Drive ours and Gymnasium's with the same actions; count the episodes that ended."""
    env = envs.make(id, num_envs)
    theirs = [reference(id) for _ in range(num_envs)]
    first = [other.reset(seed=seed + i)[0] for i, other in enumerate(theirs)]
    np.testing.assert_array_equal(env.reset(seed), first)
    rng = np.random.default_rng(seed)
    episodes = 0
    for _ in range(steps):
        action = 1.2 * rng.uniform(
            env.action_space.low, env.action_space.high, (num_envs, *env.action_space.shape)
        )
        step = env.step(action)
        for i, other in enumerate(theirs):
            obs, reward, terminated, truncated, _ = other.step(action[i])
            np.testing.assert_array_equal(step.last_obs[i], obs)
            assert step.reward[i] == reward
            assert (step.terminated[i], step.truncated[i]) == (terminated, truncated)
            assert step.cost[i] == float(terminated)
            if terminated or truncated:
                episodes += 1
                obs, _ = other.reset()
            np.testing.assert_array_equal(step.obs[i], obs)
    return episodes


@pytest.mark.parametrize("robot", ROBOTS)
def test_equals_gymnasium_over_full_episodes(robot):
    assert compare(f"{robot}-v4", steps=1020) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("robot", ROBOTS)
def test_equals_gymnasium_over_many_episodes(robot):
    assert compare(f"{robot}-v4", steps=10_050, num_envs=5, seed=3) >= 50


@pytest.mark.parametrize(
    ("robot", "height"), [("Ant", 2), ("Hopper", 1), ("Humanoid", 2), ("Walker2d", 1)]
)
def test_who_has_fallen_is_gymnasiums_to_say(robot, height):
    """Just beside every bound, and where random actions do not lead: too high, too fast, no number at all."""
    theirs, rng, found = reference(f"{robot}-v4").unwrapped, np.random.default_rng(0), []
    for _ in range(500):
        theirs.reset(seed=0)
        qpos, qvel = theirs.data.qpos, theirs.data.qvel
        qpos[height] = rng.choice([0.2, 0.7, 0.8, 1.0, 2.0]) + rng.choice([-1e-3, 0.0, 1e-3])
        if height == 1:
            qpos[2] = rng.choice([-1.0, -0.2, 0.0, 0.2, 1.0]) + rng.choice([-1e-3, 0.0, 1e-3])
        wild = rng.choice([0.0, 99.0, -101.0, np.nan], p=[0.7, 0.1, 0.1, 0.1])
        values, first = (qpos, 3) if rng.random() < 0.5 else (qvel, 0)
        values[rng.integers(first, len(values))] += wild
        found.append((robots.ROBOTS[robot].healthy(qpos[None], qvel[None])[0], theirs.is_healthy))
    ours, expected = np.transpose(found)
    np.testing.assert_array_equal(ours, expected)
    assert 20 < expected.sum() < 480


@pytest.mark.parametrize("robot", ROBOTS)
def test_no_robot_has_what_its_physics_leaves_out(robot):
    model = Locomotion(f"{robot}-v4", 1).model
    assert model.ntree == 1, "several trees may be several islands"
    assert model.neq == 0
    assert not model.dof_frictionloss.any() and not model.tendon_frictionloss.any()


@pytest.mark.parametrize("id", LIMITS)
def test_speed_costs_above_the_threshold(id):
    limit, axes = LIMITS[id]
    factors = [-3.0, 0.3, 0.8, 1.25, 3.0]
    env = Locomotion(id, num_envs=len(factors))
    env.reset(0)
    state = env.get_state()
    nq, nv = env.model.nq, env.model.nv
    qpos, qvel = state["physics"][:, 1 : 1 + nq], state["physics"][:, 1 + nq : 1 + nq + nv]
    qvel[:] = 0.0
    qvel[:, 0] = np.multiply(factors, limit)
    env.set_state(state)
    cost = env.step(np.zeros((len(factors), *env.action_space.shape))).cost

    other = reference(f"{id.removeprefix('Safety').split('Velocity')[0]}-v4").unwrapped
    speeds = []
    for i in range(len(factors)):
        other.reset(seed=i)
        other.set_state(qpos[i], qvel[i])
        info = other.step(np.zeros(other.action_space.shape))[-1]
        along, across = info["x_velocity"], info.get("y_velocity", 0.0)
        speeds.append(along if axes == 1 else np.hypot(along, across))
    assert min(speeds) < limit < max(speeds)
    np.testing.assert_array_equal(cost, np.greater(speeds, limit))


def test_speed_is_judged_on_positions_one_physics_step_old():
    """Ant's torso is where MuJoCo last computed it, not where its joints say: the same lag as the original."""
    env = Locomotion("SafetyAntVelocity-v1", 1)
    env.reset(0)
    root = env.get_state()["physics"][0, 1:3]
    step = env.step(np.ones((1, 8)))
    moved = env.get_state()["physics"][0, 1:3] - root
    forward = step.reward[0] - 1.0 + 0.5 * 8
    assert abs(forward - moved[0] / 0.05) > 1e-6


def test_loading_a_model_says_nothing(capfd, tmp_path):
    envs.make("HalfCheetah-v4", 1)
    assert capfd.readouterr() == ("", "")
    assert not list(tmp_path.iterdir())


def test_a_seed_below_zero_is_refused():
    with pytest.raises(ValueError, match=r"^Hopper-v4: seed must be at least 0, got -1$"):
        envs.make("Hopper-v4", 2, seed=-1)
