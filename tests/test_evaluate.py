"""Evaluation: against episodes played by hand."""

import dataclasses
import json
import re
from typing import ClassVar

import hostile
import numpy as np
import pytest
import scipy.stats
from test_acting import make_actor
from toy_env import Priced, Toy

from shapo.cli import main as cli
from shapo.envs.saute import Budget
from shapo.envs.simmer import SimmeringBudget
from shapo.evaluate import (
    EVALUATION_SEEDS_FROM,
    LAST_SEED,
    STRIDE,
    Evaluation,
    blueprint_of,
    evaluate,
    first_seed,
)
from shapo.experiment.describing import name_of
from shapo.rollout.actions import ActionScale
from shapo.rollout.worker import TRAINING_SEEDS_BELOW
from shapo.runs.folder import Run
from shapo.runs.policies import TrainedPolicy

POLICY = TrainedPolicy(make_actor((3, 8, 2), seed=4), ActionScale(np.zeros(2), np.ones(2)), "Toy")


def build(num_envs, seed):
    return Toy(num_envs)


def play(index, episodes, seed=0):
    """What environment `index` does on its own."""
    env = Toy(1)
    obs = env.reset(EVALUATION_SEEDS_FROM + seed + index)
    for _ in range(episodes):
        total, cost, length, done = 0.0, 0.0, 0, False
        while not done:
            step = env.step(POLICY.act(obs))
            total, cost, length = total + step.reward[0], cost + step.cost[0], length + 1
            obs, done = step.obs, bool(step.terminated[0] | step.truncated[0])
        yield total, cost, length, bool(step.terminated[0])


def test_every_environment_plays_its_share():
    found = evaluate(
        POLICY, build, episodes=45
    )  # 20 side by side: five of them play three, fifteen play two
    expected = [episode for i in range(20) for episode in play(i, 3 if i < 5 else 2)]
    ours = sorted(
        zip(found.returns, found.costs[:, 0], found.length, found.terminated, strict=True)
    )
    np.testing.assert_allclose(np.array(ours, float), np.array(sorted(expected), float), rtol=1e-6)


def test_a_run_is_evaluated_in_the_environment_it_was_trained_in(tmp_path):
    experiment = hostile.EXPERIMENT.replace(env="toy_env:Toy")
    run = Run(hostile.write_run(tmp_path / "run", experiment, policy=POLICY), experiment)
    expected = evaluate(POLICY, build, 5).returns.tolist()
    assert evaluate(run, episodes=5).returns.tolist() == expected
    assert evaluate(run, build, 5).returns.tolist() == expected
    with pytest.raises(ValueError, match="pass build, or a Run instead of its policy"):
        evaluate(POLICY)


def test_sampling_differs_and_repeats():
    plain, once, again, other = (
        evaluate(POLICY, build, 5, seed, stochastic).returns.tolist()
        for seed, stochastic in [(0, False), (0, True), (0, True), (1, True)]
    )
    assert once == again != other and once != plain


def test_summary_follows_the_definitions():
    found = evaluate(POLICY, build, 10)
    numbers = found.summary()
    assert numbers["cost_rate"] == found.costs.sum() / found.length.sum()
    assert numbers["return_error"] == pytest.approx(np.std(found.returns, ddof=1) / np.sqrt(10))
    assert numbers["cost_p95"] == np.percentile(found.costs[:, 0], 95)
    assert not any(name.startswith("cost_1") for name in numbers)


def test_a_summary_is_of_all_episodes():
    rng = np.random.default_rng(0)
    found = Evaluation(
        returns=rng.gamma(2.0, size=9), costs=rng.gamma(2.0, size=(9, 1)), length=rng.integers(1, 99, 9),
        terminated=np.arange(9) < 2, cut=np.arange(9) > 5,
    )  # fmt: skip
    paid, length = found.costs[:, 0], found.length.tolist()
    assert found.summary() == pytest.approx({
        "episodes": 9, "return": sum(found.returns) / 9, "return_error": scipy.stats.sem(found.returns),
        "cost": sum(paid) / 9, "cost_error": scipy.stats.sem(paid), "cost_p80": np.percentile(paid, 80),
        "cost_p95": np.percentile(paid, 95), "cost_rate": sum(paid) / sum(length),
        "length": sum(length) / 9, "terminated": 2 / 9, "cut": 3,
    })  # fmt: skip


class Reshaped(Toy):
    """Teaches with another reward than the task pays, as Sauté does."""

    def step(self, action):
        step = super().step(action)
        return step._replace(reward=step.reward - 100, task_reward=step.reward)


def test_what_the_task_pays_is_reported():
    found = evaluate(POLICY, lambda num_envs, seed: Reshaped(num_envs), 5)
    assert found.returns.tolist() == evaluate(POLICY, build, 5).returns.tolist()


def test_each_of_several_costs_is_summed_up_by_itself():
    numbers = evaluate(POLICY, lambda num_envs, seed: Priced(num_envs), 10).summary()
    plain = evaluate(POLICY, build, 10).summary()
    found = evaluate(POLICY, lambda num_envs, seed: Priced(num_envs), 10)
    for name in ("cost", "cost_error", "cost_p80", "cost_p95", "cost_rate"):
        first = name.replace("cost", "cost_1")
        assert numbers[first] == plain[name]
    second = found.costs[:, 1]
    assert numbers["cost_2"] == second.mean() > 0
    assert numbers["cost_2_error"] == pytest.approx(np.std(second, ddof=1) / np.sqrt(10))
    assert numbers["cost_2_p80"] == np.percentile(second, 80)
    assert numbers["cost_2_rate"] == second.sum() / found.length.sum()
    assert numbers["cost"] == pytest.approx(numbers["cost_1"] + numbers["cost_2"])
    assert numbers.keys() - plain.keys() == {
        f"cost_{i}{what}" for i in (1, 2) for what in ("", "_error", "_p80", "_p95", "_rate")
    }


def write_priced_run(folder):
    """A run on two costs, each with its limit."""
    experiment = hostile.EXPERIMENT.replace(env="toy_env:Priced", cost_limit=(25.0, 5.0))
    return hostile.write_run(folder, experiment, policy=POLICY)


def test_the_command_says_each_cost_beside_its_limit(capsys, tmp_path):
    folder = write_priced_run(tmp_path / "run")
    words = ["evaluate", str(folder), "--env", "toy_env:Priced", "--episodes", "3"]
    cli.main(words)
    first, headings, *lines = capsys.readouterr().out.splitlines()
    assert first == "toy_env:Priced, 3 episodes each, cost limits 25, 5"
    assert re.split(r"\s{2,}", headings.strip()) == [
        "return", "signal", "cost", "limit", "80 % ≤", "95 % ≤", "length", "terminated",
    ]  # fmt: skip
    cli.main([*words, "--json"])
    for kind, numbers in list(json.loads(capsys.readouterr().out).items())[2:]:
        cells = [re.split(r"\s{2,}", lines.pop(0).strip()) for _ in range(2)]
        costs = [
            [
                str(i),
                f"{numbers[f'cost_{i}']:.2f} ± {numbers[f'cost_{i}_error']:.2f}",
                limit,
                f"{numbers[f'cost_{i}_p80']:.1f}",
                f"{numbers[f'cost_{i}_p95']:.1f}",
            ]
            for i, limit in ((1, "25"), (2, "5"))
        ]
        end = f"{numbers['length']:.0f}", f"{numbers['terminated']:.0%}"
        assert cells == [[kind, cells[0][1], *costs[0], *end], costs[1]]


class Seen(Toy):
    """Notes the seeds of all environments that were ever reset."""

    seeds: ClassVar[list[int]] = []

    def reset(self, seed=0):
        self.seeds += range(seed, seed + self.num_envs)
        return super().reset(seed)


def test_no_two_evaluations_share_a_layout(monkeypatch):
    drawn = []
    for seed in (0, 1, 2, 77, LAST_SEED):
        monkeypatch.setattr(Seen, "seeds", [])
        evaluate(POLICY, lambda num_envs, seed: Seen(num_envs), 45, seed)
        drawn.append(set(Seen.seeds))
    assert [len(seeds) for seeds in drawn] == [20] * 5
    assert len(set.union(*drawn)) == 100
    assert max(max(seeds) for seeds in drawn) < 2**32, "a seed has 32 bits"
    assert min(min(seeds) for seeds in drawn) > TRAINING_SEEDS_BELOW + 10**6, "nor with training"


def test_seeds_that_no_environment_takes_are_refused():
    for seed in (-1, LAST_SEED + 1):
        with pytest.raises(ValueError, match=f"seed is {seed}; an evaluation's seed is between"):
            evaluate(POLICY, build, 1, seed)
    np.random.RandomState(first_seed(LAST_SEED) + STRIDE - 1)  # what layouts are drawn from


class Endless(Toy):
    """Even-numbered environments never end an episode."""

    def step(self, action):
        self.time[::2] = 0
        self.place = np.clip(self.place, -2, 2)
        return super().step(action)


def test_an_episode_without_an_end_is_cut_and_said_to_be():
    found = evaluate(POLICY, lambda num_envs, seed: Endless(num_envs), 45, max_steps=60)
    # Twenty side by side, of which five play three episodes and fifteen two: those that never end play one.
    assert found.cut.sum() == 10 and (found.length[found.cut] == 60).all()
    assert (~found.cut).sum() == 2 * 3 + 8 * 2 and (found.length[~found.cut] == 25).all()
    assert found.summary()["cut"] == 10 and found.summary()["episodes"] == 32


def test_an_episode_that_ends_in_its_last_step_is_not_cut():
    found = evaluate(POLICY, lambda n, seed: Toy(n, horizon=10), episodes=45, max_steps=10)
    assert found.length.tolist() == [10] * 45 and not found.cut.any()


def test_no_episodes_is_an_error():
    with pytest.raises(ValueError, match="at least one"):
        evaluate(POLICY, build, 0)


@pytest.mark.parametrize(
    "wrapper",
    [
        "shapo.cli.main:main(arguments=('--version',))",
        "os:abort()",
        "shapo.envs.saute:Budget(size=1)",
    ],
)
def test_a_policy_file_has_nothing_called_but_a_budget(tmp_path, wrapper, capsys):
    """Whatever it names: a run's folder may come from anywhere."""
    folder = hostile.write_run(
        tmp_path / "run", policy=dataclasses.replace(hostile.POLICY, wrapper=wrapper)
    )
    with pytest.raises(ValueError, match=r"changed by|unexpected keyword"):
        blueprint_of(Run.open(folder))
    assert not capsys.readouterr().out


def test_a_policy_that_learned_on_a_growing_budget_is_judged_with_the_whole(tmp_path):
    wrapper = name_of(SimmeringBudget((10.0,), start=0.1))
    folder = hostile.write_run(
        tmp_path / "run", policy=dataclasses.replace(hostile.POLICY, wrapper=wrapper)
    )
    assert blueprint_of(Run.open(folder)).wrapper == Budget((10.0,))


def test_environments_are_closed_also_if_acting_fails(monkeypatch):
    closed = []
    monkeypatch.setattr(Toy, "close", lambda self: closed.append(self))

    class Lost:
        def act(self, obs, rng):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        evaluate(Lost(), lambda num_envs, seed: Toy(num_envs))
    assert len(closed) == 1
