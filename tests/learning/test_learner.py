from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_advantages import DISCOUNT, LAMBDA, by_definition

from shapo.algorithms import trpo
from shapo.experiment import Experiment
from shapo.learning.learner import Learner, TrainState
from shapo.learning.normalization import frozen, normalize, statistics_of
from shapo.rollout.acting import Forward
from shapo.rules import networks
from shapo.rules.critics import Critics
from shapo.rules.gradients import Plain
from shapo.types import Batch
from shapo.words import BadInput

T, N, O, A = 40, 5, 4, 2
EXPERIMENT = Experiment(
    gradient="shapo",
    critic_gradient="sam",
    hidden=(8,),
    num_envs=N,
    steps_per_env=T,
    critic_epochs=2,
)


def batch(seed=0, costs=1) -> Batch:
    rng = np.random.default_rng(seed)
    obs = rng.normal(2, 3, (T + 1, N, O)).astype(np.float32)
    terminated = rng.random((T, N)) < 0.03
    return Batch(
        obs[:-1],
        obs[1:].copy(),
        rng.normal(size=(T, N, A)).astype(np.float32),
        obs[:-1, :, 0].copy(),
        (obs[:-1, :, 1 : 1 + costs] > 2).astype(np.float32),
        terminated,
        (rng.random((T, N)) < 0.03) & ~terminated,
    )


pytestmark = pytest.mark.xdist_group("learner")  # one process compiles it for all


@pytest.fixture(scope="module")
def learner():
    return Learner.build(EXPERIMENT, O, A)


@pytest.fixture(scope="module")
def state(learner) -> TrainState:
    """After a first batch, so that statistics are there and the policy has opinions."""
    return learner.learn(learner.init(3), batch(9), [12.0], 50.0)[0]


def equal(a, b):
    jax.tree.map(np.testing.assert_array_equal, a, b)


def test_learning_is_a_pure_function(learner, state):
    once, again = (
        learner.learn(state, batch(), [12.0], 50.0),
        learner.learn(state, batch(), [12.0], 50.0),
    )
    equal(once, again)
    other = learner.learn(state, batch(1), [12.0], 50.0)
    assert not np.array_equal(once[0].policy.log_std, other[0].policy.log_std)


def test_fitting_may_wait_until_the_next_batch_is_collected(learner, state):
    """It changes the critics and nothing else, for the better, and improving leaves them alone."""
    improved, todo, _ = learner.improve(state, batch(), [12.0], 50.0)
    equal(improved.critics, state.critics)
    fitted, _ = learner.fit(improved, todo)
    equal(fitted._replace(critics=state.critics), improved)
    error = lambda critic, target: np.mean((networks.value(critic.params, todo.obs) - target) ** 2)
    for before, after, target in zip(state.critics, fitted.critics, todo.targets, strict=True):
        assert error(after, target) < error(before, target)


def test_statistics_are_frozen_for_the_batch_and_merged_after_it(learner, state):
    after, _ = learner.learn(state, batch(), [12.0], 50.0)
    together = np.concatenate([batch(9).obs.reshape(-1, O), batch().obs.reshape(-1, O)])
    expected = statistics_of(together)
    np.testing.assert_allclose(after.statistics.mean, expected.mean, rtol=1e-6)
    np.testing.assert_allclose(after.statistics.deviation, expected.deviation, rtol=1e-5)
    assert after.samples == 2 * T * N
    assert 1 <= after.effective_samples - state.effective_samples <= T * N


def test_what_is_clipped_counts_in_the_statistics_as_it_is(learner, state):
    far = batch()
    far.obs[3, 1] = 500.0
    after, _, _ = learner.improve(state, far, [12.0], 50.0)
    together = np.concatenate([batch(9).obs.reshape(-1, O), far.obs.reshape(-1, O)])
    expected = statistics_of(together)
    np.testing.assert_allclose(after.statistics.mean, expected.mean, rtol=1e-5)
    np.testing.assert_allclose(after.statistics.deviation, expected.deviation, rtol=1e-4)


def test_new_statistics_alone_do_not_move_the_policy(learner, state):
    """This batch saw other observations than the first, so the statistics change a lot; the policy does not."""
    shifted = batch()
    shifted.obs[:] = shifted.obs * 1.3 + 1.0
    _, metrics = learner.learn(state, shifted, [12.0], 50.0)
    assert metrics["statistics/kl"] < 0.01 * metrics["policy/kl"]


def test_the_first_batch_is_normalised_by_its_own_statistics(learner):
    """It was acted without any: an indifferent policy acts alike under all of them, so nothing is learned wrongly."""
    new = learner.init(3)
    actor = learner.actor(new)
    far = np.random.default_rng(0).normal(50.0, 100.0, (7, O)).astype(np.float32)
    np.testing.assert_array_equal(Forward(actor, 7)(far), np.zeros((7, A)))

    first = batch()
    first.obs[:], first.next_obs[:] = first.obs * 40 + 300, first.next_obs * 40 + 300
    after, todo, metrics = learner.improve(new, first, [12.0], 50.0)
    expected = statistics_of(first.obs)
    np.testing.assert_allclose(after.statistics.mean, expected.mean, rtol=1e-6)
    np.testing.assert_allclose(after.statistics.deviation, expected.deviation, rtol=1e-4)
    np.testing.assert_allclose(np.std(todo.obs, axis=0), 1, rtol=0.05)
    assert metrics["policy/kl"] > 0
    assert metrics["statistics/kl"] < 1e-6


def test_the_critics_progress_knows_of_this_batch_too(learner, state):
    after, todo, metrics = learner.improve(state, batch(), [12.0], 50.0)
    assert (
        todo.progress.effective_samples == metrics["samples/effective"] == after.effective_samples
    )
    assert todo.progress.samples == after.samples


class Told:
    """An algorithm that stays where it is and tells what it is told."""

    environment = None

    def init(self, params):
        return ()

    def update(self, params, state, samples, progress, key):
        told = progress._replace(episode_cost=progress.episode_cost[0])._asdict()
        return params, state, {**told, "noise": jax.random.uniform(key)}


def test_an_algorithm_is_told_how_far_the_training_is_and_gets_noise_of_its_own():
    experiment = EXPERIMENT.replace(steps=4 * T * N)
    learner = Learner.build(experiment, O, A, algorithm=Told())
    now, told, todo = learner.init(0), [], []
    for _ in range(3):
        now, left, metrics = learner.improve(now, batch(), [12.0], 50.0)
        told.append(metrics)
        todo.append(left)
    column = lambda name: [each[name] for each in told]
    assert column("iteration") == [0, 1, 2]
    assert column("samples") == [T * N, 2 * T * N, 3 * T * N]
    assert column("remaining") == [1.0, 0.75, 0.5]
    assert column("episode_cost") == [12.0] * 3 and column("episode_length") == [50.0] * 3
    # Of this batch, too.
    independent = T * N / np.array(column("samples/autocorrelation"))
    np.testing.assert_allclose(column("effective_samples"), independent.cumsum(), rtol=1e-5)
    assert len(set(column("noise"))) == len({each.seed for each in todo}) == 3


def test_critics_are_fitted_to_returns_by_the_experiment_s_discount_and_decay():
    experiment = EXPERIMENT.replace(discount=DISCOUNT, gae=LAMBDA)
    learner = Learner.build(experiment, O, A, algorithm=Told())
    new, seen = learner.init(0), batch()
    todo = learner.improve(new, seen, [12.0], 50.0)[1]
    normalization = frozen(statistics_of(seen.obs))
    for critic, signal, target in zip(
        new.critics, (seen.reward, seen.cost[..., 0]), todo.targets, strict=True
    ):
        value = lambda x, critic=critic: np.asarray(
            networks.value(critic.params, normalize(x, *normalization))
        )
        here = value(seen.obs)
        advantage = by_definition(
            signal, here, value(seen.next_obs), seen.terminated, seen.truncated
        )
        np.testing.assert_allclose(target, (advantage + here).ravel(), rtol=1e-4, atol=1e-4)


@dataclass
class Thawed:
    """A rule that could change at any time."""

    factors: tuple = (1.0,)

    def __call__(self, *arguments):
        return Plain()(*arguments)


@dataclass(frozen=True)
class Listed:
    """Or what it is made of could."""

    factors: list = field(default_factory=list)

    def __call__(self, *arguments):
        return Plain()(*arguments)


@pytest.mark.parametrize(("rule", "culprit"), [(Thawed(), "Thawed"), (Listed(), "list")])
@pytest.mark.parametrize("place", ["algorithm", "critics"])
def test_a_rule_that_could_change_is_named(rule, culprit, place):
    parts = (
        {"algorithm": trpo(gradient=rule)} if place == "algorithm" else {"critics": Critics(rule)}
    )
    usual = {"algorithm": trpo(), "critics": Critics()}
    with pytest.raises(BadInput, match=f"^unhashable type: '{culprit}': .* frozen dataclass"):
        Learner(**usual | parts, observation_size=O, action_size=A)


def test_a_metric_is_one_number():
    class Lists:
        def __call__(self, *arguments):
            slope = Plain()(*arguments)
            return slope._replace(metrics={"all of them": jnp.ones(3)})

    learner = Learner.build(EXPERIMENT, O, A, algorithm=trpo(radius=0.02, gradient=Lists()))
    with pytest.raises(BadInput, match=r"'gradient/all of them' is an array \(3,\)"):
        learner.improve(learner.init(0), batch(), [12.0], 50.0)


def test_nothing_recompiles_between_iterations(learner, state):
    programs = lambda: (Learner._improve._cache_size(), Critics.fit_one._cache_size())
    state, _ = learner.learn(state, batch(), [1.0], 50.0)
    before = programs()
    for seed in range(3):
        state, _ = learner.learn(state, batch(seed), [float(seed)], 50.0)
    assert programs() == before


def test_several_costs(state):
    experiment = EXPERIMENT.replace(cost_limit=(10.0, 5.0))
    learner = Learner.build(experiment, O, A, costs=2)
    state = learner.init(0)
    _, metrics = learner.learn(state, batch(costs=2), [12.0, 3.0], 50.0)
    assert metrics["policy/multiplier_1"] > metrics["policy/multiplier_2"] == 0
    assert {"critic/reward_loss", "critic/cost_1_loss", "critic/cost_2_loss"} <= metrics.keys()


@pytest.mark.parametrize("field", ["obs", "next_obs", "action", "reward", "cost"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_batch_that_is_not_finite_is_refused_by_name(learner, state, field, value):
    broken = batch()
    getattr(broken, field)[7, 2] = value
    with pytest.raises(ValueError, match=rf"batch\.{field} is .* at step 7 of environment 2"):
        learner.improve(state, broken, [12.0], 50.0)


def test_mismatched_shapes_are_named(learner, state):
    whole = batch()
    for broken, culprit in [
        (whole._replace(cost=whole.cost[:-1]), "batch.cost"),
        (whole._replace(action=whole.action[..., :1]), "batch.action has 1 dimensions"),
        (
            whole._replace(obs=whole.obs[..., :3], next_obs=whole.obs[..., :3]),
            "batch.obs has 3 features",
        ),
    ]:
        with pytest.raises(ValueError) as raised:
            learner.improve(state, broken, [12.0], 50.0)
        assert culprit in str(raised.value)
    for cost in ([np.nan], [1.0, 2.0]):
        with pytest.raises(ValueError, match="episode_cost"):
            learner.improve(state, whole, cost, 50.0)


@pytest.mark.parametrize("wrong", [-1.0, 3.0, 0.5])
def test_a_choice_that_there_is_not_is_named(wrong):
    chooser = Learner.build(EXPERIMENT, O, 1, choices=3)
    assert chooser.actor(chooser.init(0)).log_std is None
    numbers = np.random.default_rng(0).integers(0, 3, (T, N, 1)).astype(np.float32)
    numbers[7, 2] = wrong
    with pytest.raises(ValueError, match=rf"batch\.action has {wrong:g}; .* from 0 to 2"):
        chooser.improve(chooser.init(0), batch()._replace(action=numbers), [12.0], 50.0)
