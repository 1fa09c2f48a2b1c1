"""Training where actions are choices, from the first step to the exported policy."""

import gymnasium
import numpy as np
import onnxruntime
import pytest
from test_resume import Stop, stop_after
from test_train import table_without_time
from toy_env import Crossing

import shapo
from shapo.cli import main as cli
from shapo.evaluate import blueprint_of, evaluate
from shapo.experiment import Experiment
from shapo.runs.folder import Run
from shapo.training import train

LIMIT, BEST = 10.0, 20.0
EXPERIMENT = Experiment(
    env="Crossing", algo="trpo-pid", gradient="shapo", cost_limit=(LIMIT,), steps=32_000, num_envs=20,
    steps_per_env=40, workers=2, hidden=(8,), discount=0.5, gae=0.5, critic_epochs=1, radius_per_dim=0.05,
)  # fmt: skip
SHORT = EXPERIMENT.replace(steps=4 * EXPERIMENT.batch_steps, workers=1)

pytestmark = pytest.mark.xdist_group("choices")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Begun by two workers, stopped, and finished by one."""
    folder = tmp_path_factory.mktemp("choices") / "run"
    with pytest.raises(Stop):
        train(EXPERIMENT, folder, env=Crossing, watch=stop_after(1))
    return train(EXPERIMENT.replace(workers=1), folder, env=Crossing, resume=True)


def test_finds_the_best_policy_within_the_limit(trained):
    late = lambda name: np.mean(trained.progress[name][-10:])
    assert abs(late("cost/episode") - LIMIT) < 0.1 * LIMIT
    assert 0.9 * BEST < late("reward/episode") < 1.1 * BEST
    assert trained.progress["policy/entropy"][0] > 1.0 > trained.progress["policy/entropy"][-1]


def test_the_policy_chooses_as_the_environment_counts(trained):
    policy = shapo.load(trained.folder)
    assert policy.act(np.array([1.0, 1.0])) == Crossing.DASH
    assert policy.act(np.array([-1.0, 1.0])) == Crossing.WAIT
    task = blueprint_of(trained, Crossing)
    likeliest, sampled = (evaluate(policy, task.build, 20, stochastic=s) for s in (False, True))
    assert likeliest.costs.mean() == likeliest.returns.mean() / 2
    assert 0.8 * BEST < sampled.returns.mean() < 1.1 * BEST


def test_neither_workers_nor_a_stop_decide_a_bit(trained, tmp_path):
    unbroken = train(SHORT, tmp_path / "run", env=Crossing)
    for name, rows in (("progress.csv", 1 + SHORT.iterations), ("episodes.csv", 50)):
        first = table_without_time(trained.folder / name)[:rows]
        assert table_without_time(unbroken.folder / name)[:rows] == first


def test_commands_take_it(trained, tmp_path, capsys):
    folder = str(trained.folder)
    cli.main(["evaluate", folder, "--env", "toy_env:Crossing", "--episodes", "2"])
    assert "mean action" in capsys.readouterr().out
    cli.main(["play", folder, "--env", "toy_env:Crossing", "--out", str(tmp_path / "film.gif")])
    cli.main(["export", folder, "--out", str(tmp_path / "policy.onnx")])
    session = onnxruntime.InferenceSession(tmp_path / "policy.onnx")
    obs = np.float32([[1, 1], [-1, 1]])
    (action,) = session.run(["action"], {"observation": obs})
    np.testing.assert_array_equal(action, [Crossing.DASH, Crossing.WAIT])


def off_centre(obs, action, info):
    return float(abs(obs[0]) > 0.2)


@pytest.mark.slow
@pytest.mark.parametrize("algo", ["trpo-pid", "ppo-pid"])
def test_cartpole_from_the_command_line(algo, tmp_path):
    """It balances for the whole 500 steps and stays in the middle; goes on where it ended; acts in Gymnasium."""
    folder, own = tmp_path / "run", ["--env", "CartPole-v1", "--cost", "test_choices:off_centre"]
    sizes = ["--steps", "1e5", "--num-envs", "10", "--steps-per-env", "400"]
    choices = ["--algo", algo, "--gradient", "shapo", "--cost-limit", "10", "--ppo-epochs", "10"]
    choices = choices if algo.startswith("ppo") else choices[:-2]
    cli.main(["train", *own, *sizes, *choices, "--out", str(folder)])
    cli.main(["train", "--resume", str(folder), *own, "--steps", "108000"])
    progress = Run.open(folder).progress
    assert np.mean(progress["reward/episode"][-3:]) > 400
    assert np.mean(progress["cost/episode"][-3:]) < 30

    policy, env, earned, over = shapo.load(folder), gymnasium.make("CartPole-v1"), 0, False
    obs, _ = env.reset(seed=0)
    while not over:
        obs, reward, terminated, truncated, _ = env.step(policy.act(obs))
        earned, over = earned + reward, terminated or truncated
    assert earned > 400
