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
from shapo.envs.gymnasium_out import BatchedEnv
from shapo.envs.states import joined

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
    returns, lengths, episodes = np.zeros(4), np.zeros(4, int), np.zeros(4, int)
    for _ in range(2001):
        obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert env.observation_space.contains(obs)
        assert reward.shape == terminated.shape == info["cost"].shape == (4,)
        assert set(np.unique(info["cost"])) <= {0.0, 1.0}
        returns, lengths = returns + reward, lengths + 1
        ended = terminated | truncated
        if ended.any():
            np.testing.assert_allclose(info["episode"]["r"][ended], returns[ended])
            np.testing.assert_array_equal(info["episode"]["l"][ended], lengths[ended])
            assert lengths[ended].max() <= 1000
            returns[ended], lengths[ended] = 0.0, 0
            episodes += ended
    env.close()
    assert episodes.min() >= 2


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


@pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning")
@pytest.mark.parametrize("limit", [1000, 7])
def test_an_unseeded_reset_goes_on_with_the_stream_as_gymnasiums_own_does(limit):
    """After a fall, after a time limit around it, in the middle of an episode, and twice in a row."""
    ours, theirs = (
        gymnasium.make(f"{place}Hopper-v4", max_episode_steps=limit) for place in ("shapo/", "")
    )
    np.testing.assert_array_equal(ours.reset(seed=5)[0], theirs.reset(seed=5)[0])
    rng, ends = np.random.default_rng(0), 0
    for action in rng.uniform(-1, 1, (300, 3)):
        step, other = ours.step(action), theirs.step(action)
        np.testing.assert_array_equal(step[0], other[0])
        ends += step[2] or step[3]
        if step[2] or step[3] or rng.random() < 0.05:
            for _ in range(rng.integers(1, 3)):
                np.testing.assert_array_equal(ours.reset()[0], theirs.reset()[0])
    assert ends > 3


@pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning")
def test_a_batch_is_reset_as_gymnasiums_own_is():
    """Without a seed, with some, and only in part; those that are not begun anew go on."""
    ours = gymnasium.make_vec("shapo/Hopper-v4", num_envs=3)
    theirs = SyncVectorEnv(
        [lambda: gymnasium.make("Hopper-v4")] * 3, autoreset_mode=AutoresetMode.SAME_STEP
    )
    rng = np.random.default_rng(0)
    some, one = np.array([True, False, True]), np.array([False, True, False])
    for seed, mask in [
        (4, None), (None, None), ([8, None, 2], None), (None, some), (6, one), ([None, 1, 3], some),
        (None, ~some), ([3, 3, 3], np.ones(3, bool)),
    ]:  # fmt: skip
        obs, other = (
            env.reset(seed=seed, options=None if mask is None else {"reset_mask": mask})[0]
            for env in (ours, theirs)
        )
        np.testing.assert_array_equal(obs, other)
        for action in rng.uniform(-1, 1, (9, 3, 3)):
            for a, b in zip(ours.step(action)[:4], theirs.step(action)[:4], strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("id", ["SafetyPointGoal1-v0", "SafetyCarGoal1-v0"])
def test_navigation_goes_on_with_the_stream_wherever_an_episode_is_left(id):
    """The next layout is the one that a time limit at this very step would have led to."""
    batch, env = shapo.envs.make(id, 1), gymnasium.make(f"shapo/{id}")
    batch.reset(3), env.reset(seed=3)
    action = np.full((1, 2), 0.4)
    for _ in range(5):
        batch.step(action), env.step(action[0])
    batch.set_state(batch.get_state() | {"steps": np.array([batch.horizon - 1])})
    step = batch.step(action)
    env.step(action[0])
    assert step.truncated.all()
    np.testing.assert_array_equal(env.reset()[0], step.obs[0])


def test_the_seed_that_a_batch_is_built_with_does_not_show():
    zero = gymnasium.make_vec("shapo/Hopper-v4", num_envs=2).reset(seed=0)[0]
    found = [gymnasium.make("shapo/Hopper-v4").reset()[0] for _ in range(2)]
    batch = gymnasium.make_vec("shapo/Hopper-v4", num_envs=2)
    found += [*batch.reset(options={"reset_mask": np.array([False, True])})[0][1:]]
    found += [*batch.reset(seed=[None, 7])[0][:1]]
    rows = np.stack([*zero, *found])
    assert len(np.unique(rows, axis=0)) == len(rows)


def test_a_mask_counts_for_the_statistics_around_a_batch_too():
    env = RecordEpisodeStatistics(gymnasium.make_vec("shapo/Hopper-v4", num_envs=2))
    env.reset(seed=0)
    for _ in range(3):
        env.step(np.zeros((2, 3)))
    env.reset(options={"reset_mask": np.array([False, True])})
    assert env.episode_lengths.tolist() == [3, 0]


@pytest.mark.parametrize(
    "mask", [np.ones(3, bool), np.zeros(2, bool), np.ones(2), [True], "everything"]
)
def test_a_mask_that_is_none_is_refused(mask):
    env = gymnasium.make_vec("shapo/Hopper-v4", num_envs=2)
    with pytest.raises(ValueError, match=r"^Hopper-v4: options\['reset_mask'\] must be 2 booleans"):
        env.reset(options={"reset_mask": mask})


def test_histories_of_different_length_are_put_together():
    """A Gymnasium environment's state is what was done in its episode."""
    free = {"cost": shapo.envs.free}
    env = BatchedEnv(shapo.envs.make("Pendulum-v1", 3, **free))
    alone = BatchedEnv(shapo.envs.make("Pendulum-v1", 1, **free))
    env.reset(seed=5), alone.reset(seed=6)
    for _ in range(4):
        obs = env.step(np.ones((3, 1)))[0]
        one = alone.step(np.ones((1, 1)))[0]
    begun = env.reset(seed=[9, 9, None], options={"reset_mask": np.array([True, False, True])})[0]
    np.testing.assert_array_equal(begun[1], obs[1])
    assert not (begun == obs)[[0, 2]].all(axis=1).any()
    for _ in range(3):
        obs, one = env.step(np.ones((3, 1)))[0], alone.step(np.ones((1, 1)))[0]
        np.testing.assert_array_equal(obs[1], one[0])
    assert env.batch.get_state()["length"].tolist() == [3, 7, 3]


def test_fractions_are_kept_beside_whole_numbers():
    """As in `np.array(self.scores)`, where one worker's scores are whole by chance."""
    for first, other in (([0, 3], [0.5]), ([True], [7])):
        parts = [np.array(first), np.array(other)]
        assert joined(parts).tolist() == [*first, *other]
        assert joined(parts[::-1]).tolist() == [*other, *first]


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


def test_a_batch_that_is_made_takes_no_more_options():
    batch = shapo.envs.make("Hopper-v4", 2)
    with pytest.raises(ValueError, match=r"^Hopper-v4 is made already and takes no seed, speed$"):
        BatchedEnv(batch, seed=3, speed=2)
