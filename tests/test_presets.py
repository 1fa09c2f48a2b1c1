"""The published numbers, as the paper and the compared code bases state them."""

import pytest

from shapo import presets


@pytest.mark.parametrize(
    "env, steps, limit",
    [
        ("SafetyPointGoal1-v0", 10_000_000, 10.0),
        ("PointButton1-v0", 10_000_000, 10.0),
        ("Safexp-CarPush2-v0", 10_000_000, 10.0),
        ("Ant-v4", 5_000_000, 0.0),
        ("Walker2d-v4", 5_000_000, 0.0),
        ("SafetyAntVelocity-v1", 10_000_000, 25.0),
    ],
)
def test_steps_and_limits(env, steps, limit):
    found = presets.experiment(env)
    assert (found.steps, found.cost_limit) == (steps, (limit,))


def test_common_numbers():
    found = presets.experiment("SafetyPointGoal1-v0", "trpo-pid", "shapo")
    assert found.batch_steps == 20_000
    assert (found.radius, found.pessimism, found.rho_critic, found.damping) == (
        0.01,
        1e-4,
        0.01,
        0.1,
    )
    assert (found.pid_kp, found.pid_ki, found.pid_kd, found.multiplier_init) == (
        0.1,
        0.01,
        0.01,
        0.001,
    )
    assert (found.discount, found.gae, found.hidden) == (0.99, 0.95, (64, 64))
    assert (found.critic_rate, found.critic_epochs, found.critic_minibatch) == (1e-3, 10, 128)


def test_shapo_means_sharpness_aware_critics_unless_told_otherwise():
    assert presets.experiment(gradient="shapo").critic_gradient == "sam"
    assert presets.experiment(gradient="shapo", critic_gradient="plain").critic_gradient == "plain"
    assert presets.experiment(gradient="sam").critic_gradient == "plain"


def test_ppo_has_its_own_numbers():
    found = presets.experiment(algo="ppo-lagrangian")
    assert (found.critic_rate, found.ppo_rate, found.ppo_clip) == (3e-4, 3e-4, 0.2)
    assert (found.ppo_epochs, found.ppo_minibatch, found.ppo_stop_kl) == (40, 64, 0.02)


@pytest.mark.parametrize(
    "env, discount, unsafe",
    [
        ("SafetyPointGoal1-v0", 0.9999, -0.2),
        ("SafetyCarCircle2-v0", 0.9999, -0.2),
        ("SafetyPointButton1-v0", 0.999, -1.0),
    ],
)
def test_saute_is_tuned_per_task(env, discount, unsafe):
    found = presets.experiment(env, "saute")
    assert (found.saute_discount, found.saute_unsafe_reward) == (discount, unsafe)


def test_the_user_has_the_last_word():
    assert presets.experiment("Ant-v4", steps=7, cost_limit=(3.0,)).steps == 7
