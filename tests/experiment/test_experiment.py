"""An experiment is complete, true to what was published, and makes sense, or it does not come into being."""

import dataclasses
import re

import numpy as np
import pytest

from shapo.experiment import Algo, Experiment, names
from shapo.experiment.algos import ALGOS
from shapo.experiment.choices import kinds
from shapo.rules.gradients import Shapo


@pytest.mark.parametrize(
    "env, steps, limit",
    [
        ("SafetyPointGoal1-v0", 10_000_000, 10.0),
        ("PointButton1-v0", 10_000_000, 10.0),
        ("Safexp-CarPush2-v0", 10_000_000, 10.0),
        ("Ant-v4", 5_000_000, 0.0),
        ("shapo/Walker2d-v4", 5_000_000, 0.0),
        ("SafetyAntVelocity-v1", 10_000_000, 25.0),
        ("Pendulum-v1", 10_000_000, 10.0),
    ],
)
def test_steps_and_limits_are_the_published_ones(env, steps, limit):
    found = Experiment(env)
    assert (found.steps, found.cost_limit) == (steps, (limit,))


def test_common_numbers():
    found = Experiment("SafetyPointGoal1-v0", "trpo-pid", "shapo")
    assert found.batch_steps == 20_000
    assert (found.radius_per_dim, found.pessimism, found.rho_critic) == (0.01, 1e-4, 0.01)
    assert (found.pid_kp, found.pid_ki, found.pid_kd) == (0.1, 0.01, 0.01)
    assert (found.damping_per_dim, found.multiplier_init) == (0.1, 0.001)
    assert (found.discount, found.gae, found.hidden) == (0.99, 0.95, (64, 64))
    assert (found.critic_rate, found.critic_epochs, found.critic_minibatch) == (1e-3, 10, 128)


def test_shapo_means_sharpness_aware_critics_unless_told_otherwise():
    assert Experiment(gradient="shapo").critic_gradient == "sam"
    assert Experiment(gradient="shapo", critic_gradient="plain").critic_gradient == "plain"
    assert Experiment(gradient="sam").critic_gradient == "plain"


def test_ppo_has_its_own_numbers():
    found = Experiment(algo="ppo-lagrangian")
    assert (found.critic_rate, found.ppo_rate, found.ppo_clip) == (3e-4, 3e-4, 0.2)
    assert (found.ppo_epochs, found.ppo_minibatch, found.ppo_stop_kl) == (40, 64, 0.02)


@pytest.mark.parametrize(
    "env, algo, discount, unsafe, epochs",
    [
        ("SafetyPointGoal1-v0", "saute", 0.9999, -0.2, 40),
        ("CarCircle2-v0", "ppo-saute", 0.9999, -0.2, 80),
        ("SafetyPointButton1-v0", "ppo-saute", 0.999, -1.0, 40),
    ],
)
def test_saute_is_tuned_per_task(env, algo, discount, unsafe, epochs):
    found = Experiment(env, algo)
    assert (found.saute_discount, found.saute_unsafe_reward) == (discount, unsafe)
    assert found.ppo_epochs == epochs


def test_the_user_has_the_last_word():
    found = Experiment("Ant-v4", "ppo", steps=7, cost_limit=(3.0,), critic_rate=1.0)
    assert (found.steps, found.cost_limit, found.critic_rate) == (7, (3.0,), 1.0)
    assert found.replace(env="SafetyPointGoal1-v0", algo="cpo").steps == 7


def test_what_is_as_published_is_so_for_another_task_algorithm_and_rule_too():
    base = Experiment(seed=3, critic_epochs=5)
    for change in ({"env": "Ant-v4"}, {"algo": "ppo"}, {"gradient": "shapo"}):
        assert base.replace(**change) == Experiment(seed=3, critic_epochs=5, **change)
    back = base.replace(env="Walker2d-v4", gradient="shapo").replace(gradient="plain", env=base.env)
    assert back == base
    assert base.replace(gradient="shapo", critic_gradient="plain").critic_gradient == "plain"
    assert dataclasses.replace(base, env="Ant-v4").steps == base.steps, "who wants all as it is"


@pytest.mark.parametrize("alias", ["PointGoal1-v0", "Safexp-PointGoal1-v0", "shapo/SafetyPointGoal1-v0"])  # fmt: skip
def test_an_environment_by_any_of_its_names_is_one_experiment(alias):
    assert Experiment(alias) == Experiment("SafetyPointGoal1-v0")


@pytest.mark.parametrize(
    "given, meant",
    [
        ({"cost_limit": 25}, {"cost_limit": (25.0,)}),
        ({"cost_limit": [10]}, {"cost_limit": (10.0,)}),
        ({"hidden": [64, 32.0]}, {"hidden": (64, 32)}),
        ({"hidden": 8}, {"hidden": (8,)}),
        ({"steps": 1e6}, {"steps": 1_000_000}),
        ({"steps": np.int32(5)}, {"steps": 5}),
        ({"radius_per_dim": np.float32(0.5), "pid_kp": 1}, {"radius_per_dim": 0.5, "pid_kp": 1.0}),
    ],
)
def test_what_is_meant_is_taken(given, meant):
    found = Experiment(**given)
    for name, value in meant.items():
        assert getattr(found, name) == value and type(getattr(found, name)) is type(value)
    assert all(type(number) is int for number in found.hidden)
    assert all(type(number) is float for number in found.cost_limit)


@pytest.mark.parametrize(
    "change, complaint",
    [
        ({"discount": 99}, "discount is 99; it must be at least 0 and at most 1"),
        ({"gae": 3}, "gae is 3; it must be at least 0 and at most 1"),
        ({"seed": 1.5}, "seed is 1.5; it must be a whole number"),
        ({"seed": -1}, "seed is -1; it must be at least 0 and at most 1,000,000,000"),
        ({"seed": True}, "seed is True; it must be a whole number"),
        ({"ppo_clip": 0}, "ppo_clip is 0; it must be above 0"),
        ({"radius_per_dim": 0}, "radius_per_dim is 0; it must be above 0"),
        ({"radius_per_dim": float("nan")}, "radius_per_dim is nan; it must be a finite number"),
        ({"critic_rate": float("inf")}, "critic_rate is inf; it must be a finite number"),
        ({"saute_unsafe_reward": float("inf")}, "saute_unsafe_reward is inf; it must be a finite"),
        ({"cost_limit": (float("inf"),)}, "cost_limit is (inf,); it must be a finite number"),
        ({"steps": float("inf")}, "steps is inf; it must be a whole number"),
        ({"steps": 10**400}, "0; it must be a finite number"),
        ({"radius_per_dim": 10**400}, "0; it must be a finite number"),
        ({"alpha": 0.5}, "alpha is 0.5; it must be above 0 and below 0.5"),
        ({"num_envs": 0}, "num_envs is 0; it must be at least 1"),
        ({"cost_limit": ()}, "cost_limit is (); give at least one number"),
        ({"cost_limit": [1, -1]}, "cost_limit is [1, -1]; it must be at least 0"),
        ({"hidden": (8, 0)}, "hidden is (8, 0); it must be at least 1"),
        ({"hidden": "64"}, "hidden is '64'; it must be a whole number"),
        ({"radius_per_dim": None}, "radius_per_dim is None; it must be a number"),
        ({"workers": -1}, "workers is -1"),
        ({"env": ""}, "env is ''; it must be a name"),
        ({"env": 3}, "env is 3; it must be a name"),
        (
            {"gradient": Shapo(1e-4)},
            "it must be a name; objects go to train(…, algorithm=…, env=…)",
        ),
        ({"algo": "trpo-lagrange"}, "did you mean trpo-lagrangian"),
        ({"gradient": "shpo"}, "did you mean shapo"),
        ({"critic_gradient": "shapo"}, "critic_gradient 'shapo' is none of plain, sam"),
        ({"schedule": "fixd"}, "did you mean fixed"),
    ],
)
def test_the_rest_is_refused_by_name(change, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)):
        Experiment(**change)
    with pytest.raises(ValueError, match=re.escape(complaint)):
        Experiment().replace(**change)


def test_every_number_is_finite_and_a_choice_that_came_from_a_file_is_the_same():
    for name, kind in kinds(Experiment).items():
        if kind.item is not str:
            with pytest.raises(ValueError, match=f"^{name} is"):
                Experiment(**{name: float("nan")})
    experiment = Experiment("Ant-v4", "ppo-saute", cost_limit=(1.0, 2.0))
    lists = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in dataclasses.asdict(experiment).items()
    }
    assert Experiment(**lists) == experiment


def idle(**choices):
    return Experiment(**choices).idle().keys()


def test_choices_that_do_nothing_are_known():
    assert {"pessimism", "schedule", "alpha", "rho"} <= idle()
    assert idle(gradient="shapo") & {"pessimism", "schedule", "alpha", "rho"} == {"alpha", "rho"}
    assert "pessimism" in idle(gradient="shapo", schedule="alpha")
    assert {"ppo_rate", "ppo_clip", "crpo_tolerance"} <= idle(algo="trpo")
    assert {"radius_per_dim", "damping_per_dim", "cg_iterations"} <= idle(algo="ppo")
    assert "damping_per_dim" not in idle(algo="ppo", gradient="shapo")
    assert "rho_critic" in idle() and "rho_critic" not in idle(gradient="shapo")
    assert "episode_window" in idle(algo="saute") and "episode_window" not in idle(algo="cpo")
    assert "episode_window" not in idle(algo="trpo", gradient="mine:Rule")
    assert "episode_window" not in idle(algo="trpo", gradient="shapo", schedule="mine:when_needed")
    assert Experiment().idle()["alpha"] == "gradient shapo and schedule alpha or effective-alpha"


def test_equal_essence_means_equal_result():
    plain = Experiment(algo="trpo")
    assert plain.replace(workers=3, pessimism=1.0, ppo_rate=0.5).essence() == plain.essence()
    assert plain.replace(radius_per_dim=0.5).essence() != plain.essence()
    third = plain.replace(seed=3)
    assert third.essence("seed") == plain.essence("seed") and third.essence() != plain.essence()
    shapo = Experiment(algo="trpo", gradient="shapo", pessimism=1e-5)
    aside = ("gradient", "critic_gradient")
    assert shapo.essence(*aside) == plain.essence(*aside)


def test_every_environment_is_in_a_family():
    for id, parts in names.IDS.items():
        assert names.canonical(id) == id and id in names.of_family(parts.family)


def test_every_algorithm_has_a_row():
    assert set(ALGOS) == set(Algo.__args__)
