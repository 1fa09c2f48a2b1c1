"""Training: against one's own loop made of the same pieces, and against itself."""

import json
import signal
import struct
import sys
import warnings
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from tensorboardX.proto.event_pb2 import Event
from toy_env import Toy

import shapo
from shapo.algorithms import Cpo, saute, trpo
from shapo.envs import Saute
from shapo.evaluate import blueprint_of
from shapo.experiment import Experiment
from shapo.learning import recipes
from shapo.learning.learner import Learner
from shapo.rollout.collector import Collector
from shapo.rollout.worker import env_seed
from shapo.rules.gradients import Sam, Shapo
from shapo.runs.folder import Run
from shapo.runs.ledger import Ledger
from shapo.runs.recorders import WeightsAndBiases
from shapo.training import TrainingError, default_folder, train
from shapo.types import Batch
from shapo.words import BadInput

TINY = Experiment(
    env="Toy", gradient="shapo", critic_gradient="sam", cost_limit=(1.0,), steps=600, num_envs=4, steps_per_env=50,
    workers=1, hidden=(8, 8), critic_epochs=2, critic_minibatch=50, seed=5,
)  # fmt: skip


# One process compiles the toy's learner for all who train it.
pytestmark = pytest.mark.xdist_group("toy")


def table_without_time(path):
    """A CSV file's columns as text, wall-clock columns left out."""
    lines = [line.split(",") for line in path.read_text().splitlines()]
    kept = [i for i, name in enumerate(lines[0]) if not name.startswith("time/")]
    return [[line[i] for i in kept] for line in lines]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "run"
    return train(TINY.replace(workers=2), folder, env=Toy)


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
            np.testing.assert_array_equal(
                trained.history.columns[name][iteration], value, err_msg=name
            )
    obs = np.random.default_rng(0).normal(size=(10, 3))
    actor = learner.actor(state)
    np.testing.assert_array_equal(trained.policy.actor.log_std, actor.log_std)
    for ours, theirs in zip(trained.policy.actor.weights, actor.weights, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert shapo.load(trained.folder).act(obs).shape == (10, 2)


def test_the_same_experiment_gives_the_same_files_whoever_works(trained, tmp_path):
    """Once by two workers, once by one."""
    again = train(TINY, tmp_path / "again", env=Toy)
    for name in ("progress.csv", "episodes.csv"):
        assert table_without_time(again.folder / name) == table_without_time(trained.folder / name)
    assert (again.folder / "policy.safetensors").read_bytes() == (
        trained.folder / "policy.safetensors"
    ).read_bytes()


def test_another_seed_gives_another_run(trained, tmp_path):
    other = train(TINY.replace(seed=6, steps=200), tmp_path / "other", env=Toy)
    assert (
        other.history.columns["reward/episode"][0] != trained.history.columns["reward/episode"][0]
    )


def test_files_of_a_run(trained):
    names = {path.name for path in trained.folder.iterdir()}
    assert names == {
        "config.json", "progress.csv", "episodes.csv", "policy.safetensors", "checkpoints", "tensorboard",
        "workers.log", "manifest.json",
    }  # fmt: skip
    assert trained.finished
    columns = list(trained.history.columns)
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
    assert trained.history.columns["steps"].tolist() == [200, 400, 600]
    episodes = (trained.folder / "episodes.csv").read_text().splitlines()
    assert episodes[0] == "iteration,steps,env,return,cost,length,terminated"
    assert len(episodes) - 1 == trained.history.columns["episodes"][-1]


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
    for iteration, value in enumerate(trained.history.columns["cost/rate"]):
        assert found["cost/rate", iteration] == pytest.approx(value)


def test_your_own_algorithm(tmp_path):
    run = train(
        TINY.replace(steps=200),
        tmp_path / "own",
        env=Toy,
        algorithm=trpo(radius=0.5, gradient=Sam(0.01)),
    )
    assert 0.02 < run.history.columns["policy/kl"][0] <= 0.5
    assert "Sam(rho=0.01)" in run.experiment.algo and "shapo" not in run.experiment.gradient


@pytest.mark.parametrize("passed", [trpo, "trpo"])
def test_what_is_no_algorithm_is_told(tmp_path, passed):
    what = type(passed).__name__
    with pytest.raises(BadInput, match=f"^algorithm is a {what}, which is no algorithm: that has"):
        train(TINY, tmp_path / "run", env=Toy, algorithm=passed)
    assert not (tmp_path / "run").exists()


def test_nor_is_the_class_of_one(tmp_path):
    with pytest.raises(
        BadInput, match=r"^algorithm is the class Cpo; give what it makes, Cpo\(…\)"
    ):
        train(TINY, tmp_path / "run", env=Toy, algorithm=Cpo)  # type: ignore[arg-type]


SAUTE = TINY.replace(steps=200, algo="saute", saute_unsafe_reward=-1000.0)


@pytest.fixture(scope="module")
def by_name(tmp_path_factory):
    return train(SAUTE, tmp_path_factory.mktemp("saute") / "run", env=Toy)


class TestSaute:
    """An algorithm that wants its own environment gets it, however it is passed."""

    def test_learns_with_the_budget_and_reports_the_task(self, by_name):
        assert by_name.policy.observation_size == 4
        assert min(by_name.history.columns["reward/episode"]) > -200

    def test_as_an_object_is_the_same(self, by_name, tmp_path):
        algorithm = recipes.algorithm(SAUTE, 2)
        run = train(TINY.replace(steps=200), tmp_path / "object", env=Toy, algorithm=algorithm)
        assert table_without_time(run.folder / "progress.csv") == table_without_time(
            by_name.folder / "progress.csv"
        )
        env = blueprint_of(run, "toy_env:Toy").build(3, 0)
        assert isinstance(env, Saute) and env.unsafe_reward == -1000.0

    def test_what_it_cannot_learn_in_is_bad_input(self, tmp_path):
        base = trpo(radius=0.02)
        with pytest.raises(ValueError, match=r"Saute: Toy has 1 cost\(s\), got 2 budget"):
            train(TINY, tmp_path / "bad", env=Toy, algorithm=saute(budget=(1.0, 2.0), base=base))
        assert list(tmp_path.iterdir()) == []


class TestWhatIsRecorded:
    """The config says what was really used, whatever the experiment was called."""

    tiny = TINY.replace(env="SafetyPointGoal1-v0", steps=200)

    def test_an_environment_that_can_be_imported_has_its_name(self, tmp_path):
        run = train(self.tiny, tmp_path / "run", env=partial(Toy, horizon=20))
        assert run.experiment.env == "toy_env:Toy(horizon=20)"
        recorded = json.loads((run.folder / "config.json").read_text())["experiment"]
        assert recorded["env"] == run.experiment.env

    def test_one_that_cannot_says_so_and_no_other_is_taken_for_it(self, tmp_path):
        make = lambda num_envs: Toy(num_envs, horizon=20)
        run = train(self.tiny, tmp_path / "run", env=make)
        assert run.experiment.env.startswith("custom: ") and "<lambda>" in run.experiment.env
        with pytest.raises(ValueError, match=r"env was a Python object.*<lambda>.*env=…"):
            train(run.experiment, run.folder, resume=True)
        with pytest.raises(
            ValueError, match=r"on a Python object.*<lambda>.*blueprint_of\(run, env\)"
        ):
            blueprint_of(run)
        assert blueprint_of(run, make).build(3, 0).horizon == 20
        with pytest.raises(ValueError, match="cannot resume"):
            train(run.experiment, run.folder, env=lambda num_envs: Toy(num_envs), resume=True)
        assert train(run.experiment, run.folder, env=make, resume=True).finished

    def test_an_algorithm_made_with_a_function_can_be_resumed_with_that_and_no_other(
        self, tmp_path
    ):
        def algorithm(radius):
            return trpo(radius=0.02, gradient=Shapo(lambda progress: radius))

        with pytest.raises(KeyboardInterrupt):
            train(self.tiny, tmp_path / "run", env=Toy, algorithm=algorithm(1e-4), recorders=stop)
        go_on = partial(train, self.tiny, tmp_path / "run", env=Toy, resume=True, recorders=stop)
        with pytest.raises(ValueError, match="algo is custom: PolicySearch"):
            go_on(algorithm=algorithm(2e-4))
        with pytest.raises(ValueError, match="algo is custom: PolicySearch"):
            go_on()
        with pytest.raises(KeyboardInterrupt):
            go_on(algorithm=algorithm(1e-4))


def stop(run, first):
    """Instead of recorders: everything is ready, and Ctrl-C is pressed."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("part", ["improve", "fit"])
def test_who_stops_while_it_learns_is_heard_once_it_has(part, tmp_path, monkeypatch):
    """And not within JAX, where an exception from outside is lost now and then."""
    learn, learned = getattr(Learner, part), []

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        learned.append(learn(*arguments))
        return learned[-1]

    monkeypatch.setattr(Learner, part, interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(TINY, tmp_path / "run", env=Toy, quiet=True)
    assert len(learned) == 1


def test_whole_batches_are_trained_and_said_to_be(tmp_path):
    experiment = TINY.replace(steps=250)
    with (
        pytest.warns(UserWarning, match="steps is 250, and 400 will be trained: .*4 num_envs x 50"),
        pytest.raises(KeyboardInterrupt),
    ):
        train(experiment, tmp_path / "run", env=Toy, recorders=stop)


def test_a_choice_that_does_nothing_is_said_to_in_python_too(tmp_path):
    idle = TINY.replace(gradient="plain", pessimism=1e-3, alpha=0.2)
    go = partial(train, idle, env=Toy, recorders=stop)
    with pytest.warns(UserWarning) as heard, pytest.raises(KeyboardInterrupt):
        go(tmp_path / "run")
    said = [str(each.message) for each in heard if "does nothing here" in str(each.message)]
    assert said == [
        "pessimism does nothing here: it needs gradient shapo",
        "alpha does nothing here: it needs gradient shapo and schedule alpha or effective-alpha",
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyboardInterrupt):
            go(tmp_path / "quiet", quiet=True)
        with pytest.raises(KeyboardInterrupt):
            train(TINY, tmp_path / "nothing idle", env=Toy, recorders=stop)


def test_an_environment_that_is_made_already_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r"^env is a Toy that is made already; pass the class, or a"):
        train(TINY, tmp_path / "run", env=Toy(1))  # type: ignore[arg-type]


def test_a_name_of_an_environment_belongs_in_the_experiment(tmp_path):
    """It would be recorded as an object without a name, and `toy_env:Toy` be taken for Gymnasium's."""
    with pytest.raises(BadInput, match=r"^env is 'CartPole-v1'; .*: Experiment\(env='CartPole-v1"):
        train(TINY, tmp_path / "run", env="CartPole-v1")  # type: ignore[arg-type]


def test_errors_in_python_speak_python(tmp_path):
    Run.create(tmp_path, TINY)
    with pytest.raises(BadInput, match=r"already holds a run; continue it \(resume=True, or"):
        train(TINY, tmp_path, env=Toy)


class Enough(Exception):
    """Somebody has seen what they wanted."""


def test_it_shows_how_it_goes_and_whoever_watches_may_stop_it(tmp_path, capsys, monkeypatch):
    def watch(row):
        if row["iteration"] == 1:
            raise Enough

    go = partial(train, TINY, tmp_path / "run", env=Toy)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with pytest.raises(Enough):
        go(watch=watch)
    assert "2/3   400 steps" in capsys.readouterr().out
    run = go(resume=True, quiet=True)
    assert run.finished and not capsys.readouterr().out


def test_what_a_watch_could_not_reach_is_told_in_its_own_words(tmp_path):
    def watch(row):
        raise ConnectionError("the dashboard does not answer")

    with pytest.raises(TrainingError, match=r"^the dashboard does not answer; .*--resume"):
        train(TINY, tmp_path / "run", env=Toy, watch=watch)


class TestAFailedStart:
    """Nothing is in the way of the corrected command."""

    def fails(self, folder, error, match, **arguments):
        with pytest.raises(error, match=match) as failure:
            train(TINY, folder, **{"env": Toy} | arguments)
        assert "--resume" not in str(failure.value)

    def test_bad_input_leaves_nothing_behind(self, tmp_path):
        with pytest.raises(ValueError, match="cost_limit"):
            train(TINY.replace(cost_limit=(1.0, 2.0)), tmp_path / "bad", env=Toy)
        with pytest.raises(ValueError, match=r"unknown environment .*did you mean SafetyPointGoal"):
            train(TINY.replace(env="SafetyPointGoal"), tmp_path / "bad")
        assert list(tmp_path.iterdir()) == []

    def test_nor_does_a_recorder_that_cannot_be_made(self, tmp_path):
        def no_login(run, first):
            (run.folder / "wandb").mkdir()
            raise RuntimeError("no login")

        self.fails(tmp_path / "run", RuntimeError, "no login", recorders=no_login)
        assert list(tmp_path.iterdir()) == []

    def test_an_environment_that_cannot_be_made_leaves_its_log_and_the_place(self, tmp_path):
        def unbuildable(num_envs):
            raise ModuleNotFoundError("no module named maze")

        folder = tmp_path / "run"
        self.fails(folder, TrainingError, f"no module named maze.*log: {folder}", env=unbuildable)
        assert [path.name for path in folder.iterdir()] == ["workers.log"]
        assert "maze" in (folder / "workers.log").read_text()
        assert train(TINY.replace(steps=200), folder, env=Toy).finished
        assert "maze" not in (folder / "workers.log").read_text()


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
    runs = [Run.create(tmp_path / place / "run", TINY) for place in ("here", "there")]
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


def test_default_folder_is_one_folder_with_a_name_of_reasonable_length():
    algo = "custom: PolicySearch(" + 50 * "objective=RewardOnly()" + ")"
    folder = default_folder(Experiment(env="a/b:c", algo=algo, gradient="m:Rule(x=1)"))
    assert folder.as_posix() == "runs/a-b-c-custom--PolicySearch-m-Rule-seed0"


@pytest.mark.slow
def test_learns_to_stay_within_the_limit(tmp_path):
    """The optimum without a limit is to stand at 1; the walk there may not pass 1.2."""
    run = train(TINY.replace(steps=60_000, num_envs=8), tmp_path / "long", env=Toy)
    returns, costs = run.history.columns["reward/episode"], run.history.columns["cost/episode"]
    assert np.mean(returns[-20:]) > np.mean(returns[:5]) + 10
    assert np.mean(costs[-20:]) < 2.0


def test_an_id_is_no_experiment(tmp_path):
    with pytest.raises(ValueError, match=r"such as Experiment\('Ant-v4'\)"):
        train("Ant-v4", tmp_path / "run")  # type: ignore[arg-type]
