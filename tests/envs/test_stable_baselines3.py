"""Our batch as Stable-Baselines3 sees it: its array semantics here, and its own classes where it is installed."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from toy_env import Toy

from shapo import envs
from shapo.envs import stable_baselines3 as bridge


def test_an_ended_episode_leaves_its_last_observation_behind():
    env = envs.make("Hopper-v4", 4)
    obs = env.reset(0)
    falls = 0
    for action in np.random.default_rng(0).uniform(-1, 1, (60, 4, 3)):
        step = env.step(action)
        obs, reward, done, infos = bridge.outcome(step)
        np.testing.assert_array_equal(obs, step.obs)
        np.testing.assert_array_equal(reward, step.reward.astype(np.float32))
        assert reward.dtype == np.float32
        np.testing.assert_array_equal(done, step.terminated)
        for i, info in enumerate(infos):
            assert info["cost"] == step.cost[i]
            assert info["TimeLimit.truncated"] is False
            assert ("terminal_observation" in info) == done[i]
            if done[i]:
                falls += 1
                np.testing.assert_array_equal(info["terminal_observation"], step.last_obs[i])
                assert not np.array_equal(info["terminal_observation"], obs[i])
    assert falls > 4


def test_time_that_ran_out_is_no_end():
    env = Toy(3, horizon=2)
    env.reset(0)
    env.step(np.zeros((3, 2)))
    _, _, done, infos = bridge.outcome(env.step(np.zeros((3, 2))))
    assert done.all() and all(info["TimeLimit.truncated"] for info in infos)


def test_a_fall_in_the_last_step_is_an_end():
    env = Toy(1, horizon=1)
    env.reset(0)
    env.place[:] = 2.5
    _, _, done, (info,) = bridge.outcome(env.step(np.ones((1, 2))))
    assert done.all() and info["TimeLimit.truncated"] is False


def test_without_it_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.vec_env", None)
    bridge._vec_env_class.cache_clear()
    with pytest.raises(ValueError, match=r"Stable-Baselines3 is missing.*shapo\[sb3\]"):
        bridge.make_vec_env("Hopper-v4")


@pytest.mark.parametrize(("id", "steps"), [("Hopper-v4", 150), ("SafetyPointCircle1-v0", 510)])
def test_equals_their_own_vector_of_single_environments(id, steps):
    theirs = pytest.importorskip("stable_baselines3.common.vec_env")
    import gymnasium

    ours = bridge.make_vec_env(id, n_envs=2, seed=3)
    other = theirs.DummyVecEnv([lambda: gymnasium.make(f"shapo.envs:shapo/{id}")] * 2)
    other.seed(3)
    assert isinstance(ours.unwrapped, theirs.VecEnv)
    assert ours.observation_space == other.observation_space
    np.testing.assert_array_equal(ours.reset(), other.reset())
    ended = 0
    for action in np.random.default_rng(0).uniform(-1, 1, (steps, 2, *ours.action_space.shape)):
        obs, reward, done, infos = ours.step(action)
        their_obs, their_reward, their_done, their_infos = other.step(action)
        np.testing.assert_array_equal(obs, their_obs)
        np.testing.assert_array_equal(reward, their_reward)
        np.testing.assert_array_equal(done, their_done)
        ended += done.sum()
        for info, their_info in zip(infos, their_infos, strict=True):
            episode = info.pop("episode", None)
            their_info.pop("episode", None)
            assert info.keys() == their_info.keys()
            for name in info:
                np.testing.assert_array_equal(info[name], their_info[name])
            assert (episode is not None) == ("terminal_observation" in info)
    assert ended
    with pytest.raises(AttributeError, match="a batch is one thing"):
        ours.env_method("fly")
    ours.close()


@pytest.mark.slow
def test_their_ppo_trains_on_it():
    ppo = pytest.importorskip("stable_baselines3").PPO
    env = bridge.make_vec_env("SafetyPointGoal1-v0", n_envs=16, seed=0)
    before = ppo("MlpPolicy", env, n_steps=64, batch_size=256, n_epochs=1, seed=0)
    after = ppo("MlpPolicy", env, n_steps=64, batch_size=256, n_epochs=1, seed=0).learn(17_000)
    assert after.num_timesteps >= 17_000 and len(after.ep_info_buffer) == 16
    obs = env.reset()
    assert not np.array_equal(
        before.predict(obs, deterministic=True)[0], after.predict(obs, deterministic=True)[0]
    )


@pytest.mark.slow
def test_their_speed_is_measured():
    pytest.importorskip("stable_baselines3")
    script = Path(__file__).parents[2] / "benchmarks" / "sb3.py"
    command = [sys.executable, script, "--steps", "30", "--envs", "8"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    _, *lines = done.stdout.splitlines()
    speeds, ratios = zip(
        *(re.findall(r" ([\d,.]+) (?:steps/s|×)", line) for line in lines), strict=True
    )
    speeds = [float(each.replace(",", "")) for each in speeds]
    assert len(speeds) == 3
    np.testing.assert_allclose(
        [float(each) for each in ratios], np.divide(speeds, speeds[0]), rtol=0.05
    )
