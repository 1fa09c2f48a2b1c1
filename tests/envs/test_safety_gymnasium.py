"""Client code written for `safety_gymnasium`, with nothing but its import changed."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest

import shapo.envs.safety_gymnasium as safety_gymnasium
from shapo import envs
from shapo.envs.safety_gymnasium.vector.async_vector_env import SafetyAsyncVectorEnv
from shapo.envs.safety_gymnasium.wrappers import (
    SafeAutoResetWrapper,
    SafeNormalizeObservation,
    SafeRescaleAction,
    SafeUnsqueeze,
)


def safepo_environment(num_envs, env_id, seed):
    """As SafePO makes one, several or single."""
    if num_envs > 1:

        def create():
            return SafeRescaleAction(safety_gymnasium.make(env_id), -1.0, 1.0)

        env = SafeNormalizeObservation(SafetyAsyncVectorEnv([create] * num_envs))
        env.reset(seed=seed)
        return env, env.single_observation_space, env.single_action_space
    env = safety_gymnasium.make(env_id)
    env.reset(seed=seed)
    spaces = env.observation_space, env.action_space
    env = SafeRescaleAction(SafeAutoResetWrapper(env), -1.0, 1.0)
    return SafeUnsqueeze(SafeNormalizeObservation(env)), *spaces


@pytest.mark.parametrize("num_envs", [1, 3])
def test_a_loop_as_safepo_writes_it(num_envs):
    env, obs_space, act_space = safepo_environment(num_envs, "SafetyHopperVelocity-v1", seed=0)
    rng = np.random.default_rng(0)
    obs, _ = env.reset()
    assert obs.shape == (num_envs, *obs_space.shape)
    finals, costs = 0, 0.0
    for _ in range(300):
        action = rng.uniform(-1, 1, (num_envs, *act_space.shape)).squeeze()
        obs, reward, cost, terminated, truncated, info = env.step(action)
        for value in (reward, cost, terminated, truncated):
            assert value.shape == (num_envs,)
        costs += cost.sum()
        if (terminated | truncated).any():
            last = np.array(
                [row if row is not None else np.zeros(obs.shape[1]) for row in info["final_observation"]]
            )  # fmt: skip
            assert last.shape == obs.shape
            for i in np.flatnonzero(terminated | truncated):
                finals += 1
                assert 0 < np.abs(last[i]).max() < 50  # normalised, as all others are
    assert finals > 5 and costs > 0


@pytest.mark.parametrize("num_envs", [1, 4])
def test_an_environment_as_omnisafe_makes_it(num_envs):
    if num_envs > 1:
        env = safety_gymnasium.vector.make(env_id="SafetyPointCircle1-v0", num_envs=num_envs)
        obs_space = env.single_observation_space
    else:
        env = safety_gymnasium.make(id="SafetyPointCircle1-v0", autoreset=True)
        obs_space = env.observation_space
    obs, _ = env.reset(seed=7)
    assert obs.shape == ((num_envs, *obs_space.shape) if num_envs > 1 else obs_space.shape)
    env.action_space.seed(0)
    for step in range(1, 501):
        obs, _, _, _, truncated, info = env.step(env.action_space.sample())
        assert np.all(truncated == (step == 500))
        assert ("final_observation" in info) == (step == 500)
    last = np.stack(info["final_observation"])
    assert last.shape == obs.shape and not np.array_equal(last, obs)
    env.close()


def test_the_batch_and_the_singles_are_the_same_environments():
    id, n, rng = "SafetyHopperVelocity-v1", 3, np.random.default_rng(1)
    batch = safety_gymnasium.vector.make(id, num_envs=n)
    singles = safety_gymnasium.vector.make(id, num_envs=n, wrappers=lambda env: env)
    plain = envs.make(id, n)
    first = plain.reset(4)
    np.testing.assert_array_equal(batch.reset(seed=4)[0], first)
    np.testing.assert_array_equal(singles.reset(seed=4)[0], first)
    ended = 0
    for _ in range(200):
        action = rng.uniform(-1, 1, (n, 3))
        step = plain.step(action)
        expected = (step.obs, step.reward, step.cost, step.terminated, step.truncated)
        for env in (batch, singles):
            *values, info = env.step(action)
            for value, known in zip(values, expected, strict=True):
                np.testing.assert_array_equal(value, known)
            for i in np.flatnonzero(step.terminated | step.truncated):
                ended += 1
                np.testing.assert_array_equal(info["final_observation"][i], step.last_obs[i])
                assert info["final_info"][i]["cost"] == step.cost[i]
    assert ended > 10


def test_the_info_that_ends_an_episode_is_whole():
    class Telling(gymnasium.Wrapper):
        """Says more where an episode ends, each environment something of its own."""

        def step(self, action):
            *values, info = self.env.step(action)
            more = {"speed": {"x": float(values[0][0]), "fast": True}, "place": values[0][:2]}
            if values[3]:
                more[f"fall at {len(values[0])}"] = "hard"
            return *values, info | more

    singles = safety_gymnasium.vector.make("SafetyHopperVelocity-v1", num_envs=3, wrappers=Telling)
    singles.reset(seed=1)
    ended = 0
    for action in np.random.default_rng(1).uniform(-1, 1, (100, 3, 3)):
        _, _, cost, terminated, truncated, info = singles.step(action)
        if not (terminated | truncated).any():
            continue
        for i, last in enumerate(info["final_info"]):
            if not (terminated | truncated)[i]:
                assert last is None
                continue
            ended += 1
            obs = info["final_observation"][i]
            assert last.keys() == {"cost", "speed", "place", "fall at 11"}
            assert last["speed"] == {"x": obs[0], "fast": True}
            np.testing.assert_array_equal(last["place"], obs[:2])
            assert (last["cost"], last["fall at 11"]) == (cost[i], "hard")
            assert type(last["cost"]) is float
    assert ended > 5


def test_actions_are_stretched_to_the_bounds():
    env = SafeRescaleAction(safety_gymnasium.make("SafetyHumanoidVelocity-v1"), 0.0, 1.0)
    np.testing.assert_allclose(env.action(np.full(17, 0.75)), np.full(17, 0.2), rtol=1e-6)


def test_pictures_come_in_the_size_that_was_asked_for():
    env = safety_gymnasium.make(
        "SafetyPointGoal1-v0", render_mode="rgb_array", camera_name="track", width=64, height=48
    )
    env.reset(seed=0)
    assert env.render().shape == (48, 64, 3)
    env.close()


def test_a_task_that_is_not_here_is_named():
    with pytest.raises(envs.UnknownEnvironment, match="SafetyDoggoGoal1-v0"):
        safety_gymnasium.make("SafetyDoggoGoal1-v0")
    with pytest.raises(envs.UnknownEnvironment, match="Pendulum-v1 is none of ours"):
        safety_gymnasium.vector.make("Pendulum-v1")


def test_it_can_stand_in_for_the_package_itself():
    """For code that cannot be edited: under its name, every import of a client works."""
    program = """
import sys
import shapo.envs.safety_gymnasium
sys.modules["safety_gymnasium"] = shapo.envs.safety_gymnasium

import safety_gymnasium
from safety_gymnasium.vector.async_vector_env import SafetyAsyncVectorEnv
from safety_gymnasium.vector.sync_vector_env import SafetySyncVectorEnv
from safety_gymnasium.wrappers import SafeAutoResetWrapper, SafeRescaleAction, SafeUnsqueeze
print(len(safety_gymnasium.vector.make("SafetyPointGoal1-v0", num_envs=2).reset(seed=0)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "2\n", done.stderr
