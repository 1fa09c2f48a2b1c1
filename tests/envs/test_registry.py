"""Names of environments, and the list of them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from shapo import envs
from shapo.bench import env as bench_env
from shapo.envs import locomotion, navigation
from shapo.experiment import names


@pytest.mark.parametrize(
    ("alias", "id"),
    [
        ("PointGoal1-v0", "SafetyPointGoal1-v0"),
        ("Safexp-CarButton2-v0", "SafetyCarButton2-v0"),
        ("shapo/Ant-v4", "Ant-v4"),
        ("Ant-v4", "Ant-v4"),
        ("Pendulum-v1", "Pendulum-v1"),
        ("some.module:Their-v0", "some.module:Their-v0"),
    ],
)
def test_aliases(alias, id):
    assert envs.canonical(alias) == id


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [
        ("SafetyPointGaol1-v0", "SafetyPointGoal1-v0"),
        ("pointgoal1-v0", "SafetyPointGoal1-v0"),
        ("SafetyAntVelocity-v2", "SafetyAntVelocity-v"),
        ("ant-v4", "Ant-v4"),
        ("Pendulm-v1", "Pendulum-v1"),
    ],
)
def test_an_unknown_id_gets_a_suggestion(wrong, nearest):
    with pytest.raises(envs.UnknownEnvironment, match=f"{wrong}.*did you mean {nearest}") as error:
        envs.make(wrong, 1)
    assert "\n" not in str(error.value)


def test_nothing_near_means_no_suggestion():
    with pytest.raises(envs.UnknownEnvironment) as error:
        envs.make("zzz", 1)
    assert "did you mean" not in str(error.value)


def test_no_environments_are_refused():
    with pytest.raises(ValueError, match="num_envs must be at least 1, got 0"):
        envs.make("Ant-v4", 0)


def test_the_names_are_those_of_the_tasks():
    assert (*navigation.TASKS, *locomotion.TASKS) == envs.IDS
    assert [row.id for row in envs.table()] == list(envs.IDS)


def test_the_list_tells_the_truth():
    for row in envs.table():
        env = envs.make(row.id, 1)
        assert env.id == row.id
        assert env.observation_space.shape == (row.observations,)
        assert env.action_space.shape == (row.actions,)
        assert env.action_space.dtype == np.float32
        assert env.horizon == row.horizon
        assert row.cost and row.about


def test_a_robot_that_cannot_fall_is_not_said_to_pay_for_it():
    costs = {row.id: row.cost for row in envs.table() if row.id in names.of_family("fall")}
    assert costs == {
        "Ant-v4": "1 at a fall", "HalfCheetah-v4": "none", "Hopper-v4": "1 at a fall",
        "Humanoid-v4": "1 at a fall", "Swimmer-v4": "none", "Walker2d-v4": "1 at a fall",
    }  # fmt: skip
    page = (Path(__file__).parents[2] / "docs" / "environments.md").read_text()
    for row in envs.table():
        (line,) = (line for line in page.splitlines() if f"| `{row.id}` |" in line)
        assert line.endswith(f"| {row.cost} | {row.about} |")


@pytest.mark.parametrize("id", ["Ant-v4", "SafetyPointGoal1-v0"])
def test_an_environment_comes_reset_with_its_seed(id):
    env, other = envs.make(id, 2, seed=5), envs.make(id, 2)
    other.reset(5)
    action = np.ones((2, *env.action_space.shape))
    np.testing.assert_array_equal(env.step(action).obs, other.step(action).obs)


def test_importing_the_package_loads_no_physics_and_no_learner():
    heavy = ("jax", "mujoco", "numba", "matplotlib")
    code = f"import sys, shapo.envs; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("id", "policy"), [("Hopper-v4", "random"), ("SafetyPointGoal1-v0", "seek")]
)
def test_the_speed_of_an_environment_is_consistent(id, policy):
    speed = bench_env.measure(id, seconds=0.2, policy=policy, num_envs=4)
    ours, bare = speed["steps_per_second"], speed["bare_physics_steps_per_second"]
    assert speed["steps"] > 0 and speed["steps"] % 4 == 0
    assert speed["ratio"] == pytest.approx(ours / bare)


@pytest.mark.parametrize(
    ("policy", "message"),
    [("walk", "unknown policy 'walk'"), ("seek", "Hopper-v4: .*use the random")],
)
def test_a_policy_that_does_not_fit_is_refused(policy, message):
    with pytest.raises(ValueError, match=message):
        bench_env.measure("Hopper-v4", policy=policy)
