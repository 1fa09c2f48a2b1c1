"""Simmer's budgets against the controller written out episode by episode."""

import numpy as np
import pytest
from test_saute import Scripted, drive
from toy_env import Toy

from shapo.envs import Saute
from shapo.envs.saute import Budget
from shapo.envs.simmer import Controlled, SimmeringBudget

COSTS = [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 1]
HORIZON, BUDGET, START, KP, KI = 3, 2.0, 0.25, 0.2, 0.1
SIMMERING = SimmeringBudget((BUDGET,), 1.0, -1.0, START, KP, KI)


def shares():
    """The share of the budget with which each episode begins."""
    share, integral, found = START, 0.0, [START]
    for episode in np.reshape(COSTS, (-1, HORIZON)):
        error = share - episode.sum() / BUDGET
        integral = min(max(integral + error, 0.0), 1.0)
        share = min(max(share + KP * error + KI * integral, START), 1.0)
        found.append(share)
    return found


def test_an_episode_begins_with_the_controller_s_share():
    expected = shares()
    assert len(set(expected)) > 3 and expected[-1] < max(expected)
    env = SIMMERING(Scripted(COSTS, HORIZON))
    assert env.reset(0)[0, -1] == START
    steps = drive(env, len(COSTS))
    begun = [step.obs[0, -1] for step in steps[HORIZON - 1 :: HORIZON]]
    np.testing.assert_allclose(begun, expected[1:], rtol=1e-12)
    # Within an episode it is Sauté.
    assert steps[6].last_obs[0, -1] == pytest.approx(expected[2] - 1 / BUDGET)
    assert [step.reward[0] for step in steps[:7]] == [1.0] * 6 + [-1.0]


def test_the_controller_counts_cost_as_it_is_paid():
    """Undiscounted, in units of the budget, whatever the discount of what is left of it."""
    steps = drive(
        SimmeringBudget((BUDGET,), 0.9, -1.0, START, KP, KI)(Scripted(COSTS, HORIZON)), 15
    )
    begun = [step.obs[0, -1] for step in steps[HORIZON - 1 :: HORIZON]]
    np.testing.assert_allclose(begun, shares()[1:], rtol=1e-12)


def test_each_environment_is_controlled_by_its_own_episodes():
    rng, rule = np.random.default_rng(0), Controlled(START, KP, KI)
    together, alone = rule.init(3, 2), [rule.init(1, 2) for _ in range(3)]
    for _ in range(50):
        spent, ended = 0.1 * rng.random((3, 2)), rng.random(3) < 0.2
        together = rule.after(together, spent, ended)
        for i in range(3):
            alone[i] = rule.after(alone[i], spent[i : i + 1], ended[i : i + 1])
            for name, array in together.items():
                np.testing.assert_array_equal(array[i], alone[i][name][0], err_msg=name)
    assert len({*together["simmer_share"].ravel()}) > 3


def test_it_goes_on_from_a_state_as_if_nothing_had_happened():
    wrapper = SimmeringBudget((5.0,), 0.99, -1.0, START, KP, KI)
    env, other = (wrapper(Toy(3, horizon=4)) for _ in range(2))
    action = lambda t: np.full((3, 2), np.sin(t))
    env.reset(1)
    for t in range(10):
        env.step(action(t))
    obs = env.set_state(env.get_state())
    np.testing.assert_array_equal(other.set_state(env.get_state()), obs)
    assert (obs[:, -1] > START).all()
    for t in range(10, 20):
        for one, same in zip(env.step(action(t)), other.step(action(t)), strict=True):
            np.testing.assert_array_equal(one, same)


def test_an_episode_that_is_given_up_keeps_the_share_and_what_it_spent_is_forgotten():
    env = SimmeringBudget((5.0,), 1.0, -1.0, START, KP, KI)(Toy(3, horizon=4))
    env.reset(1)
    for _ in range(4):
        env.step(np.zeros((3, 2)))
    share = env.get_state()["simmer_share"]
    assert (share > START).all()
    env.env.place[:] = 1.5  # where each step costs
    env.step(np.zeros((3, 2)))
    assert (env.get_state()["simmer_spent"] > 0).all()
    np.testing.assert_array_equal(env.reset(None)[:, -1:], share)
    assert not env.get_state()["simmer_spent"].any()
    np.testing.assert_array_equal(env.reset(1)[:, -1], START)


def test_a_generous_start_is_saute():
    whole = Controlled(1.0, KP, KI)
    simmering, saute = (
        drive(Saute(Scripted(COSTS, HORIZON), BUDGET, 0.9, -1.0, *opening), len(COSTS))
        for opening in ([whole], [])
    )
    for one, other in zip(simmering, saute, strict=True):
        np.testing.assert_array_equal(one.last_obs, other.last_obs)
        np.testing.assert_array_equal(one.reward, other.reward)


def test_what_it_comes_to_is_the_whole_budget():
    assert SIMMERING.settled() == Budget((BUDGET,), 1.0, -1.0)


def test_a_share_is_none_above_one():
    with pytest.raises(ValueError, match=r"Controlled\(start=1.5\)"):
        Controlled(1.5, KP, KI)
