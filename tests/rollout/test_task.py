"""Environments as an experiment wants them: what is done about those that say nothing of cost."""

import os

import numpy as np
import pytest

from shapo import envs
from shapo.experiment import Experiment
from shapo.rollout.rollout import Rollout
from shapo.rollout.task import Costless, Task

PENDULUM = Experiment(env="Pendulum-v1", algo="trpo", num_envs=2, steps_per_env=10, workers=1)


def costless_batch(num_envs):
    return envs.make("Pendulum-v1", num_envs)


def test_an_algorithm_that_ignores_cost_does_without():
    with pytest.warns(Costless, match="Pendulum-v1 says nothing about cost"):
        env = Task(PENDULUM).build(2, 0)
    np.testing.assert_array_equal(env.step(np.ones((2, 1))).cost, [0.0, 0.0])


def test_any_other_asks_for_one():
    with pytest.raises(envs.NoCost, match="Pendulum-v1"):
        Task(PENDULUM.replace(algo="trpo-pid")).build(2, 0)


def test_a_batch_of_ones_own_must_say_itself():
    with pytest.raises(envs.NoCost, match="Pendulum-v1"):
        Task(PENDULUM, costless_batch).build(2, 0)


def test_the_trainer_is_told():
    with Rollout(Task(PENDULUM), os.devnull) as rollout:
        (note,) = rollout.spec.notes
    assert note == "Pendulum-v1 says nothing about cost; every step counts as free"


def test_discrete_actions_are_the_obstacle_whether_cost_matters_or_not():
    for algo, obstacle in (("trpo", "Discrete"), ("trpo-pid", "its actions are discrete")):
        experiment = PENDULUM.replace(env="CartPole-v1", algo=algo)
        with (
            Rollout(Task(experiment), os.devnull) as rollout,
            pytest.raises(ValueError, match=obstacle),
        ):
            _ = rollout.spec
