"""Sauté against the recursion written out step by step."""

import numpy as np
import pytest
from gymnasium import spaces

from shapo import envs
from shapo.envs import Saute, Step
from shapo.envs.saute import step_budget
from shapo.words import BadInput


class Scripted:
    """Costs as told, reward 1, an episode every `horizon` steps; the observation is the time."""

    id, num_envs = "Scripted", 1
    observation_space = spaces.Box(0, np.inf, (1,), np.float64)
    action_space = spaces.Discrete(2)

    def __init__(self, costs, horizon, num_costs=1):
        self.costs, self.horizon, self.num_costs = costs, horizon, num_costs

    def reset(self, seed):
        self.t = self.total = 0
        return np.zeros((1, 1))

    def step(self, action):
        cost = np.array([self.costs[self.total]], float)
        self.t, self.total = self.t + 1, self.total + 1
        last, ended = np.full((1, 1), float(self.t)), np.array([self.t == self.horizon])
        self.t = 0 if ended[0] else self.t
        return Step(np.full((1, 1), float(self.t)), np.ones(1), cost, ~ended & ended, ended, last)


class Falling(Scripted):
    """Its episodes end where the others' do, but with a fall."""

    def step(self, action):
        step = super().step(action)
        return step._replace(terminated=step.truncated, truncated=step.terminated)


def drive(env, steps):
    env.reset(0)
    return [env.step(np.zeros(1, int)) for _ in range(steps)]


# Published numbers for a budget over 1000 steps.
@pytest.mark.parametrize(
    ("budget", "discount", "expected"),
    [(10, 0.999, 6.323), (10, 0.9999, 9.517), (25, 0.999, 15.81), (25, 0.9999, 23.79), (7, 1.0, 7)],
)
def test_the_budget_in_discounted_units(budget, discount, expected):
    assert step_budget(budget, discount, 1000) == pytest.approx(expected, rel=1e-3)
    if discount < 1:
        by_hand = budget * np.mean(discount ** np.arange(1000))
        assert step_budget(budget, discount, 1000) == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize("kind", [Scripted, Falling])
def test_the_recursion_the_reward_and_the_true_last_budget(kind):
    costs, horizon, discount = [0, 1, 0, 1, 1, 0, 0, 1], 5, 0.9
    scale = 2.0 * np.mean(discount ** np.arange(horizon))
    steps = drive(Saute(kind(costs, horizon), 2.0, discount, unsafe_reward=-0.3), 8)
    left = 1.0
    for t, (cost, step) in enumerate(zip(costs, steps, strict=True), start=1):
        left = (left - cost / scale) / discount
        np.testing.assert_allclose(step.last_obs[0], [(t - 1) % horizon + 1, left], rtol=1e-12)
        assert step.reward[0] == (1.0 if left > 0 else -0.3)
        assert step.task_reward is not None and step.task_reward[0] == 1.0
        left = 1.0 if t == horizon else left
        assert step.obs[0, -1] == pytest.approx(left, rel=1e-12)
    assert {float(step.reward[0]) for step in steps} == {1.0, -0.3}


def test_a_budget_that_is_just_used_up_pays_no_more():
    steps = drive(Saute(Scripted([1, 1, 0], 5), 2.0, 1.0), 3)
    assert [step.last_obs[0, -1] for step in steps] == [0.5, 0.0, 0.0]
    assert [step.reward[0] for step in steps] == [1, -1, -1]


def test_around_another_it_tells_what_the_task_pays():
    steps = drive(Saute(Saute(Scripted([1, 1, 0], 5), 1.0, 1.0), np.inf), 3)
    assert [(step.reward[0], step.task_reward[0]) for step in steps] == [(-1, 1)] * 3


def test_an_infinite_budget_changes_nothing():
    steps = drive(Saute(Scripted([1] * 9, 5), np.inf, 0.9), 9)
    assert all(
        step.reward[0] == 1 and step.last_obs[0, -1] == 1 == step.obs[0, -1] for step in steps
    )


def test_each_of_several_costs_has_its_budget():
    env = Saute(Scripted([[0, 1], [0, 1], [1, 0]], 10, num_costs=2), (5.0, 1.5), 1.0)
    steps = drive(env, 3)
    np.testing.assert_allclose(steps[-1].last_obs[0], [3, 1 - 1 / 5, 1 - 2 / 1.5])
    assert [step.reward[0] for step in steps] == [1, -1, -1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"budget": 0.0}, "must be positive"),
        ({"budget": (1.0, 2.0)}, "1 cost.* got 2"),
        ({"budget": 1.0, "discount": 1.5}, "discount must lie in"),
    ],
)
def test_bad_choices_are_refused(arguments, message):
    with pytest.raises(ValueError, match=f"Saute: .*{message}"):
        Saute(Scripted([0], 5), **arguments)


def test_a_budget_that_would_outgrow_all_numbers_is_refused():
    """What is left is divided by the discount in every step, and a batch is of single precision."""
    with np.errstate(over="raise"):
        left = drive(Saute(Scripted([1.0] * 800, 801), 1.0, 0.91), 800)[-1].obs[0, -1]
        assert np.isfinite(np.float32(left))
        with pytest.raises(
            BadInput, match=r"^Saute: with a discount of 0\.9, saute_discount, .* 801"
        ):
            Saute(Scripted([1.0], 801), 1.0, 0.9)
    assert Saute(Scripted([1.0], 801), np.inf, 0.9).num_envs == 1


def test_a_task_without_a_time_limit_is_refused():
    with pytest.raises(
        ValueError, match=r"Saute: Scripted has no time limit.*TimeLimit\(env, max_"
    ):
        Saute(Scripted([0], None), 1.0)


def test_wraps_a_real_task():
    env = Saute(envs.make("Hopper-v4", 3), 0.5, 0.999)
    obs = env.reset(2)
    np.testing.assert_array_equal(obs[:, -1], 1.0)
    np.testing.assert_array_equal(obs[:, :-1], envs.make("Hopper-v4", 3).reset(2))
    assert env.observation_space.contains(obs[0])
