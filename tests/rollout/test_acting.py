"""Acting in NumPy: the same numbers as a plain float64 network, and as the learner's in JAX."""

import itertools

import gymnasium
import jax
import numpy as np
import pytest

from shapo.learning.normalization import CLIP
from shapo.rollout.acting import Actor, Forward
from shapo.rollout.actions import ActionScale, Choices, actions_of
from shapo.rules import networks
from shapo.runs import policies
from shapo.runs.policies import TrainedPolicy


def make_actor(sizes=(7, 16, 16, 3), seed=0):
    rng = np.random.default_rng(seed)
    draw = lambda *shape: rng.normal(size=shape).astype(np.float32)
    pairs = list(itertools.pairwise(sizes))
    return Actor(
        tuple(draw(i, o) / np.sqrt(i).astype(np.float32) for i, o in pairs),
        tuple(draw(o) for _, o in pairs),
        draw(sizes[-1]),
        draw(sizes[0]),
        np.exp(draw(sizes[0])),
    )


def mean_action(actor, obs):
    """The definition, one observation at a time, in float64."""
    answers = []
    for row in np.asarray(obs, np.float64):
        x = np.clip((row - actor.mean) / actor.scale, -CLIP, CLIP)
        for i, (weight, bias) in enumerate(zip(actor.weights, actor.biases, strict=True)):
            x = x @ weight.astype(np.float64) + bias
            x = np.tanh(x) if i < len(actor.weights) - 1 else x
        answers.append(x)
    return np.array(answers)


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_forward_equals_the_definition(rows):
    actor = make_actor()
    forward = Forward(actor, rows)
    for seed in range(3):  # the buffers are reused: the second answer must not remember the first
        obs = np.random.default_rng(seed).normal(scale=4, size=(rows, 7)).astype(np.float32)
        np.testing.assert_allclose(forward(obs), mean_action(actor, obs), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("sizes", [(60, 64, 64, 2), (376, 64, 64, 17), (11, 50, 3)])
def test_how_environments_are_dealt_to_workers_does_not_decide_a_bit(sizes):
    actor = make_actor(sizes)
    obs = np.random.default_rng(1).normal(size=(23, sizes[0])).astype(np.float32)
    whole = Forward(actor, 23)(obs).copy()
    for workers in (2, 3, 4, 5, 23):
        shares = np.array_split(np.arange(23), workers)
        parts = [Forward(actor, len(own), own[0])(obs[own]).copy() for own in shares]
        np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_forward_equals_the_learners_network():
    actor = make_actor()
    obs = np.random.default_rng(1).normal(size=(50, 7)).astype(np.float32)
    layers = tuple(map(networks.Layer, actor.weights, actor.biases))
    normalised = np.clip((obs - actor.mean) / actor.scale, -CLIP, CLIP)
    expected = networks.act(networks.Policy(layers, actor.log_std), normalised).mean
    np.testing.assert_allclose(Forward(actor, 50)(obs), expected, rtol=1e-5, atol=1e-5)
    assert isinstance(expected, jax.Array)


def test_actions_are_scaled_to_finite_bounds_only():
    space = gymnasium.spaces.Box(np.float32([-2.0, 0.0, -np.inf]), np.float32([2.0, 1.0, np.inf]))
    scale = actions_of(space, "Task")
    assert isinstance(scale, ActionScale)
    np.testing.assert_allclose(scale.apply(np.array([1.0, 1.0, 7.0])), [2.0, 1.0, 7.0])
    np.testing.assert_allclose(scale.apply(np.array([-1.0, -1.0, 0.0])), [-2.0, 0.0, 0.0])
    np.testing.assert_allclose(
        scale.apply(np.array([2.0, 0.0, 0.0])), [4.0, 0.5, 0.0]
    )  # not clipped


def test_choices_are_counted_as_the_environment_does():
    choices = actions_of(gymnasium.spaces.Discrete(3, start=5), "Task")
    assert choices == Choices(3, start=5) and choices.size == 1
    told = choices.apply(np.float32([[0], [2]]))
    np.testing.assert_array_equal(told, [5, 7])
    assert told.dtype == np.int64


@pytest.mark.parametrize(
    "space", [gymnasium.spaces.MultiDiscrete([2, 3]), gymnasium.spaces.Box(-1, 1, (2, 2))]
)
def test_other_actions_are_refused_by_name(space):
    with pytest.raises(ValueError, match=r"^Maze has .*(MultiDiscrete|Box).*Box.*or Discrete"):
        actions_of(space, "Maze")


class TestChoices:
    policy = TrainedPolicy(
        make_actor((7, 16, 4))._replace(log_std=None), Choices(4, start=-1), "Task"
    )
    obs = np.random.default_rng(3).normal(size=(4, 7))

    def test_the_likeliest_without_chance(self):
        likeliest = mean_action(self.policy.actor, self.obs).argmax(1) - 1
        np.testing.assert_array_equal(self.policy.act(self.obs), likeliest)
        one = self.policy.act(self.obs[2])
        assert one == likeliest[2] and isinstance(one, np.int64)
        assert gymnasium.spaces.Discrete(4, start=-1).contains(one)

    def test_samples_have_the_policys_probabilities(self):
        drawn = self.policy.act(np.repeat(self.obs[:1], 20_000, axis=0), np.random.default_rng(0))
        odds = np.exp(mean_action(self.policy.actor, self.obs[:1])[0])
        expected = odds / odds.sum()
        assert expected.min() > 0.01 and expected.max() < 0.9
        np.testing.assert_allclose(np.bincount(drawn + 1) / 20_000, expected, atol=0.01)

    def test_comes_back_from_disk_unchanged(self, tmp_path):
        self.policy.save(tmp_path / policies.FILE)
        loaded = policies.load(tmp_path)
        assert loaded.actions == Choices(4, -1) and loaded.actor.log_std is None
        np.testing.assert_array_equal(loaded.act(self.obs), self.policy.act(self.obs))


class TestPolicy:
    policy = TrainedPolicy(
        make_actor(), ActionScale(np.array([0.5, 0, 0]), np.array([2.0, 1, 1])), "Task"
    )
    obs = np.random.default_rng(3).normal(size=(4, 7))

    def test_acts_on_one_observation_and_on_several(self):
        several = self.policy.act(self.obs)
        expected = mean_action(self.policy.actor, self.obs) * [2, 1, 1] + [0.5, 0, 0]
        np.testing.assert_allclose(several, expected, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(self.policy.act(self.obs[2]), several[2], rtol=1e-6)

    def test_samples_have_the_policys_spread(self):
        rng = np.random.default_rng(0)
        drawn = self.policy.act(np.repeat(self.obs[:1], 20_000, axis=0), rng)
        np.testing.assert_allclose(drawn.mean(0), self.policy.act(self.obs[0]), atol=0.1)
        spread = np.exp(self.policy.actor.log_std) * [2, 1, 1]
        np.testing.assert_allclose(drawn.std(0), spread, rtol=0.03)

    def test_comes_back_from_disk_unchanged(self, tmp_path):
        self.policy.save(tmp_path / policies.FILE)
        for place in (tmp_path, tmp_path / policies.FILE):
            loaded = policies.load(place)
            np.testing.assert_array_equal(loaded.act(self.obs), self.policy.act(self.obs))
            assert loaded.env == "Task"

    def test_prints_as_one_line(self):
        assert repr(self.policy) == "TrainedPolicy(Task, 7 → 16 → 16 → 3)"

    def test_names_a_wrong_shape(self):
        with pytest.raises(ValueError, match=r"Task.*7 numbers.*\(6,\)"):
            self.policy.act(np.zeros(6))

    def test_names_a_missing_file(self, tmp_path):
        with pytest.raises(ValueError, match="holds no run"):
            policies.load(tmp_path)
