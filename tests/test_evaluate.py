"""Evaluation: against episodes played by hand."""

import numpy as np
import pytest
from test_acting import make_actor
from toy_env import Toy

from shapo.evaluate import SEEDS, evaluate, film
from shapo.rollout.acting import ActionScale
from shapo.runs.policies import Policy

POLICY = Policy(make_actor((3, 8, 2), seed=4), ActionScale(np.zeros(2), np.ones(2)), "Toy")


def build(num_envs, seed):
    return Toy(num_envs)


def play(index, episodes, seed=0):
    """What environment `index` does on its own."""
    env = Toy(1)
    obs = env.reset(SEEDS + seed + index)
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


def test_film_shows_one_episode():
    frames = list(film(POLICY, Toy(1), size=16))
    ((_, _, length, _),) = play(0, 1)
    assert len(frames) == length and frames[0].shape == (16, 16, 3)
    fewer = list(film(POLICY, Toy(1), size=16, every=3))
    np.testing.assert_array_equal(fewer, frames[::3])


def test_no_episodes_is_an_error():
    with pytest.raises(ValueError, match="at least one"):
        evaluate(POLICY, build, 0)
