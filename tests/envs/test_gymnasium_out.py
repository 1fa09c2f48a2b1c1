"""Our environments seen by code that knows only Gymnasium."""

import re
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

import shapo.envs

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(autouse=True)
def _away_from_the_sources(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log where Gymnasium loads half_cheetah.xml


def test_every_environment_is_registered():
    assert {f"shapo/{id}" for id in shapo.envs.IDS} <= set(gymnasium.registry)


@pytest.mark.filterwarnings("ignore:.*A Box observation space:UserWarning")
@pytest.mark.parametrize("id", ["Walker2d-v4", "SafetyAntVelocity-v1", "SafetyPointGoal1-v0"])
def test_passes_gymnasiums_own_check(id):
    env = gymnasium.make(f"shapo/{id}")
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


@pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning")
def test_the_batch_is_gymnasiums_own_batch_of_the_same_task():
    """Same seed, same actions, autoreset in the same step: nobody could tell them apart."""
    ours = gymnasium.make_vec("shapo/Hopper-v4", num_envs=3)
    theirs = SyncVectorEnv(
        [lambda: gymnasium.make("Hopper-v4")] * 3, autoreset_mode=AutoresetMode.SAME_STEP
    )
    assert ours.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    assert ours.autoreset_mode == theirs.autoreset_mode
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    np.testing.assert_array_equal(ours.reset(seed=4)[0], theirs.reset(seed=4)[0])
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(200):
        action = rng.uniform(-1, 1, (3, 3))
        *step, info = ours.step(action)
        *other, other_info = theirs.step(action)
        for a, b in zip(step, other, strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == b.dtype
        assert ("final_obs" in info) == ("final_obs" in other_info)
        if "final_obs" in info:
            mask = info["_final_obs"]
            ended += mask.sum()
            np.testing.assert_array_equal(mask, other_info["_final_obs"])
            np.testing.assert_array_equal(info["_final_info"], other_info["_final_info"])
            for a, b in zip(info["final_obs"], other_info["final_obs"], strict=True):
                np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(info["final_info"]["cost"][mask], 1.0)
        np.testing.assert_array_equal(info["cost"], step[2])
    assert ended > 10


@pytest.mark.parametrize("id", ["SafetyPointGoal1-v0", "SafetyWalker2dVelocity-v1"])
def test_a_client_that_knows_only_gymnasium_plays_full_episodes(id):
    env = RecordEpisodeStatistics(gymnasium.make_vec(f"shapo/{id}", num_envs=4))
    env.action_space.seed(0)
    obs, _ = env.reset(seed=0)
    lengths = []
    for _ in range(1001):
        obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert env.observation_space.contains(obs)
        assert reward.shape == terminated.shape == info["cost"].shape == (4,)
        assert set(np.unique(info["cost"])) <= {0.0, 1.0}
        ended = terminated | truncated
        if ended.any():
            lengths.extend(
                info["final_info"]["episode"]["l"][ended]
                if "episode" in info["final_info"]
                else info["episode"]["l"][ended]
            )
    env.close()
    assert len(lengths) >= 4
    assert max(lengths) <= 1000


def test_sync_vectorisation_builds_on_single_environments():
    env = gymnasium.make_vec("shapo/Hopper-v4", num_envs=2, vectorization_mode="sync")
    batch = gymnasium.make_vec("shapo/Hopper-v4", num_envs=2)
    np.testing.assert_array_equal(env.reset(seed=3)[0], batch.reset(seed=3)[0])
    env.close()


def test_a_single_environment_goes_on_to_the_next_episode():
    env, batch = gymnasium.make("shapo/Hopper-v4"), shapo.envs.make("Hopper-v4", 1)
    env.reset(seed=9)
    batch.reset(9)
    for action in np.random.default_rng(0).uniform(-1, 1, (200, 3)):
        obs, reward, terminated, truncated, info = env.step(action)
        step = batch.step(action[None])
        np.testing.assert_array_equal(obs, step.last_obs[0])
        assert (reward, info["cost"]) == (step.reward[0], step.cost[0])
        assert info["cost"].dtype == np.float64  # TorchRL asks for it
        if terminated or truncated:
            np.testing.assert_array_equal(env.reset()[0], step.obs[0])


def test_unseeded_resets_differ():
    env = gymnasium.make_vec("shapo/Hopper-v4", num_envs=2)
    assert not np.array_equal(env.reset(seed=0)[0], env.reset()[0])


@pytest.mark.parametrize("id", ["Hopper-v4", "SafetyPointButton1-v0", "SafetyCarGoal1-v0"])
def test_a_list_seeds_each_environment(id):
    env = gymnasium.make_vec(f"shapo/{id}", num_envs=3)
    obs, _ = env.reset(seed=[7, 3, 7])
    np.testing.assert_array_equal(obs[0], obs[2])
    action = np.full((3, *env.single_action_space.shape), 0.3)
    steps = [env.step(action)[0] for _ in range(5)]
    for i, seed in enumerate((7, 3, 7)):
        alone = gymnasium.make(f"shapo/{id}")
        np.testing.assert_array_equal(obs[i], alone.reset(seed=seed)[0])
        for step in steps:
            np.testing.assert_array_equal(step[i], alone.step(action[i])[0])
    np.testing.assert_array_equal(env.reset(seed=[4, 5, 6])[0], env.reset(seed=4)[0])
    drawn = env.reset(seed=[7, None, 7])[0]
    np.testing.assert_array_equal(drawn[[0, 2]], obs[[0, 2]])
    assert not np.array_equal(drawn[1], drawn[0])
    with pytest.raises(ValueError, match=f"{id}: 2 seeds for 3 environments"):
        env.reset(seed=[1, 5])


def test_what_the_readme_shows_needs_no_import_of_ours():
    (shown,) = re.findall(r"gymnasium\.make_vec\([^)]*\)", README.read_text())
    program = f"import gymnasium; print({shown}.reset(seed=0)[0].shape)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "(1, 60)\n", done.stderr


def test_the_spec_knows_the_time_limit():
    for row in shapo.envs.table():
        assert gymnasium.spec(f"shapo/{row.id}").max_episode_steps == row.horizon
    env = gymnasium.make("shapo/SafetyPointGoal1-v0", max_episode_steps=3)
    env.reset(seed=0)
    assert [env.step(np.ones(2))[3] for _ in range(3)] == [False, False, True]
    with pytest.raises(ValueError, match=r"episodes after 1000 steps, not 3; .*sync"):
        gymnasium.make_vec("shapo/SafetyPointGoal1-v0", num_envs=2, max_episode_steps=3)
