"""Training: against one's own loop made of the same pieces, and against itself."""

import struct
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from tensorboardX.proto.event_pb2 import Event
from toy_env import Toy

import shapo
from shapo.algorithms import trpo
from shapo.experiment import Experiment
from shapo.learning.learner import Learner
from shapo.rollout.collector import Collector
from shapo.rollout.worker import env_seed
from shapo.rules.gradients import Sam
from shapo.runs.folder import Run
from shapo.runs.ledger import Ledger
from shapo.runs.recorders import WeightsAndBiases
from shapo.training import default_folder, train
from shapo.types import Batch
from shapo.words import BadInput

TINY = Experiment(
    env="Toy", gradient="shapo", critic_gradient="sam", cost_limit=(1.0,), steps=600, num_envs=4, steps_per_env=50,
    workers=2, hidden=(8, 8), critic_epochs=2, critic_minibatch=50, seed=5,
)  # fmt: skip


def table_without_time(path):
    """A CSV file's columns as text, wall-clock columns left out."""
    lines = [line.split(",") for line in path.read_text().splitlines()]
    kept = [i for i, name in enumerate(lines[0]) if not name.startswith("time/")]
    return [[line[i] for i in kept] for line in lines]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "run"
    return train(TINY, folder, env=Toy)


def test_equals_a_plain_loop(trained):
    """No processes, no shared memory, no overlap: collect, learn, collect, learn."""
    env = Toy(4)
    collector = Collector(env, TINY.seed, 0)
    learner = Learner.build(TINY, 3, 2)
    first_seed = env_seed(TINY.seed, 0)
    state = learner.init(TINY.seed)
    ledger = Ledger(TINY)
    collector.reset(first_seed)
    real = lambda *shape: np.zeros((50, 4, *shape), np.float32)
    for iteration in range(TINY.iterations):
        batch = Batch(real(3), real(3), real(2), real(), real(1), real() > 0, real() > 0)
        episodes = collector.collect(learner.actor(state), iteration, batch, lambda: None)
        ledger.add(batch, episodes)
        state, metrics = learner.learn(
            state, batch, ledger.episode_cost().tolist(), ledger.episode_length()
        )
        for name, value in {**metrics, **ledger.row(iteration)}.items():
            np.testing.assert_array_equal(trained.progress[name][iteration], value, err_msg=name)
    obs = np.random.default_rng(0).normal(size=(10, 3))
    actor = learner.actor(state)
    np.testing.assert_array_equal(trained.policy.actor.log_std, actor.log_std)
    for ours, theirs in zip(trained.policy.actor.weights, actor.weights, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert shapo.load(trained.folder).act(obs).shape == (10, 2)


def test_the_same_experiment_twice_gives_the_same_files(trained, tmp_path):
    again = train(TINY, tmp_path / "again", env=Toy)
    for name in ("progress.csv", "episodes.csv"):
        assert table_without_time(again.folder / name) == table_without_time(trained.folder / name)
    assert (again.folder / "policy.safetensors").read_bytes() == (
        trained.folder / "policy.safetensors"
    ).read_bytes()


def test_the_number_of_workers_does_not_matter(trained, tmp_path):
    alone = train(TINY.replace(workers=1), tmp_path / "alone", env=Toy)
    assert table_without_time(alone.folder / "progress.csv") == table_without_time(
        trained.folder / "progress.csv"
    )


def test_another_seed_gives_another_run(trained, tmp_path):
    other = train(TINY.replace(seed=6, steps=200), tmp_path / "other", env=Toy)
    assert other.progress["reward/episode"][0] != trained.progress["reward/episode"][0]


def test_files_of_a_run(trained):
    names = {path.name for path in trained.folder.iterdir()}
    assert names == {
        "config.json", "progress.csv", "episodes.csv", "policy.safetensors", "checkpoints", "tensorboard",
        "workers.log", "manifest.json",
    }  # fmt: skip
    assert trained.finished
    columns = list(trained.progress)
    assert columns[:7] == [
        "iteration", "steps", "episodes", "reward/episode", "cost/episode", "cost/limit", "cost/rate",
    ]  # fmt: skip
    assert {
        "policy/kl",
        "policy/multiplier",
        "gradient/kl",
        "critic/reward_loss",
        "statistics/kl",
    } <= set(columns)
    assert trained.progress["steps"] == [200, 400, 600]
    episodes = (trained.folder / "episodes.csv").read_text().splitlines()
    assert episodes[0] == "iteration,steps,env,return,cost,length,terminated"
    assert len(episodes) - 1 == trained.progress["episodes"][-1]


def read_events(path):
    """The numbers in an event file, by name and iteration."""
    content, found = path.read_bytes(), {}
    while content:  # each record: length, checksum of the length, data, checksum of the data
        (length,) = struct.unpack("<Q", content[:8])
        event = Event.FromString(content[12 : 12 + length])
        content = content[16 + length :]
        found |= {(value.tag, event.step): value.simple_value for value in event.summary.value}
    return found


def test_tensorboard_has_the_same_numbers(trained):
    (path,) = (trained.folder / "tensorboard").iterdir()
    found = read_events(path)
    for iteration, value in enumerate(trained.progress["cost/rate"]):
        assert found["cost/rate", iteration] == pytest.approx(value)


def test_your_own_algorithm(tmp_path):
    run = train(
        TINY.replace(steps=200),
        tmp_path / "own",
        env=Toy,
        algorithm=trpo(radius=0.5, gradient=Sam(0.01)),
    )
    assert 0.02 < run.progress["policy/kl"][0] <= 0.5
    assert "Sam(rho=0.01)" in (run.folder / "config.json").read_text()


def test_saute_learns_with_the_budget_and_reports_the_task(tmp_path):
    run = train(
        TINY.replace(steps=200, algo="saute", saute_unsafe_reward=-1000.0),
        tmp_path / "saute",
        env=Toy,
    )
    assert run.policy.observation_size == 4
    assert min(run.progress["reward/episode"]) > -200


def test_bad_input_leaves_nothing_behind(tmp_path):
    with pytest.raises(ValueError, match="cost_limit"):
        train(TINY.replace(cost_limit=(1.0, 2.0)), tmp_path / "bad", env=Toy)
    with pytest.raises(ValueError, match=r"unknown environment .*did you mean SafetyPointGoal"):
        train(TINY.replace(env="SafetyPointGoal"), tmp_path / "bad")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "change, complaint",
    [
        ({"num_envs": 0}, "num_envs is 0; it must be at least 1"),
        ({"cost_limit": ()}, r"cost_limit is \(\); it must be at least 0"),
        ({"hidden": (8, 0)}, r"hidden is \(8, 0\)"),
        ({"radius": float("nan")}, "radius is nan"),
        ({"workers": -1}, "workers is -1"),
        ({"algo": "trpo-lagrange"}, "did you mean trpo-lagrangian"),
        ({"schedule": "fixd"}, "did you mean fixed"),
    ],
)
def test_senseless_choices_are_refused(tmp_path, change, complaint):
    with pytest.raises(ValueError, match=complaint):
        train(TINY.replace(**change), tmp_path / "bad", env=Toy)
    assert not (tmp_path / "bad").exists()


def test_weights_and_biases(tmp_path, monkeypatch):
    """With a stand-in for the package: what it is told, and what a user without it is told."""
    logged = []
    fake = SimpleNamespace(
        init=lambda **settings: SimpleNamespace(
            log=lambda row, step: logged.append((settings["name"], settings["id"], step, row)),
            finish=lambda: logged.append("end"),
        )
    )
    monkeypatch.setitem(sys.modules, "wandb", fake)
    runs = [Run.create(tmp_path / place / "run", TINY, {}) for place in ("here", "there")]
    row = {"iteration": 3, "cost/rate": 0.5}
    for run in (*runs, Run.open(runs[0].folder)):
        recorder = WeightsAndBiases("project", run)
        recorder.record(row)
        recorder.close()
    [(name, first, step, told), end, (_, second, *_), _, (_, again, *_), _] = logged
    assert (name, step, told, end) == ("run", 3, row, "end")
    assert first == again != second  # two runs whose folders are named alike are two runs
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(BadInput, match=r"shapo\[wandb\]"):
        WeightsAndBiases("project", runs[0])


def test_default_folder_is_one_folder():
    assert len(default_folder(Experiment(env="a/b:c")).parts) == 2


@pytest.mark.slow
def test_learns_to_stay_within_the_limit(tmp_path):
    """The optimum without a limit is to stand at 1; the walk there may not pass 1.2."""
    run = train(TINY.replace(steps=60_000, num_envs=8), tmp_path / "long", env=Toy)
    returns, costs = run.progress["reward/episode"], run.progress["cost/episode"]
    assert np.mean(returns[-20:]) > np.mean(returns[:5]) + 10
    assert np.mean(costs[-20:]) < 2.0
