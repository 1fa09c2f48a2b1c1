"""The lone Car without MuJoCo, against MuJoCo."""

import mujoco
import numpy as np
import pytest

from shapo.envs.navigation import TASKS, car, chassis, models
from shapo.envs.navigation.exchange import read_sensors


@pytest.fixture
def world():
    model = models.full_model(TASKS["SafetyCarGoal0-v0"])
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def in_mujoco(model, data, action):
    """One environment step of the real thing: positions, velocities, sensors."""
    data.ctrl[:], data.qacc_warmstart[:] = action, 0
    mujoco.mj_step(model, data, models.SUBSTEPS)
    mujoco.mj_forward(model, data)
    sensors = np.zeros(24)
    read_sensors(data.sensordata, sensors)
    return data.qpos.copy(), data.qvel.copy(), sensors


def random(rng, step, action):
    return rng.uniform(-1, 1, 2)


def steady(rng, step, action):
    return rng.choice([-1.0, 1.0], 2) * rng.uniform(0, 0.02) if step % 30 == 0 else action


def racing(rng, step, action):
    return np.full(2, rng.choice([-1.0, 1.0])) if step % 40 == 0 else action


def test_the_chassis_is_the_models(world):
    model, data = world
    mass = np.zeros((11, 11))
    mujoco.mj_fullM(model, data, mass)
    np.testing.assert_allclose(chassis.MASS, mass, rtol=1e-13, atol=1e-19)
    np.testing.assert_allclose(chassis.GIVE, model.body_invweight0[2:5, 0], rtol=1e-13)
    np.testing.assert_array_equal(model.dof_damping, [0] * 6 + [chassis.DAMPING] * 5)
    assert model.opt.timestep == chassis.SUBSTEP == 0.004 and models.SUBSTEPS == 10
    data.qpos[2] -= 1e-3
    mujoco.mj_forward(model, data)
    for contact in data.contact:
        np.testing.assert_array_equal(contact.friction, chassis.FRICTION)
        np.testing.assert_array_equal(contact.solref, (chassis.SETTLE_TIME, 1))
        np.testing.assert_array_equal(
            contact.solimp, (chassis.SOFTEST, chassis.FIRMEST, chassis.GROWTH, 0.5, 2)
        )
    assert data.ncon == 5


@pytest.mark.parametrize("policy", [random, steady, racing])
def test_a_step_is_mujocos(world, policy):
    model, data = world
    rng, action, asked = np.random.default_rng(0), np.zeros(2), 0
    contacts = set()
    for step in range(300):
        action = policy(rng, step, action)
        q, v, sensors = data.qpos.copy(), data.qvel.copy(), np.zeros(24)
        moved = car.move(q, v, action, sensors)
        asked += not moved
        truth = in_mujoco(model, data, action)
        contacts.add(data.ncon)
        if moved:
            for ours, theirs in zip((q, v, sensors), truth, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11)
    assert asked <= 2 and len(contacts) >= 2


@pytest.mark.parametrize("what", ["at rest", "tilted", "sunken"])
def test_where_it_is_not_sure_it_says_so_and_changes_nothing(world, what):
    _, data = world
    q, v, sensors = data.qpos.copy(), data.qvel.copy(), np.full(24, 7.0)
    if what == "tilted":
        q[2], q[3:7] = 0.15, (np.cos(0.1), np.sin(0.1), 0, 0)
    if what == "sunken":
        q[2] -= 0.02
    before = q.copy()
    assert not car.move(q, v, np.ones(2), sensors)
    np.testing.assert_array_equal(q, before)
    np.testing.assert_array_equal(v, 0)
    np.testing.assert_array_equal(sensors, 7)


def test_it_flies(world):
    """Off the floor there are no contacts, and what spins goes on spinning."""
    model, data = world
    rng = np.random.default_rng(1)
    data.qpos[2] = 0.3
    data.qvel[:] = rng.normal(size=11) * [1, 1, 1, 0.3, 0.3, 3, 20, 20, 20, 20, 20]
    q, v, sensors = data.qpos.copy(), data.qvel.copy(), np.zeros(24)
    assert car.move(q, v, np.zeros(2), sensors)
    for ours, theirs in zip((q, v, sensors), in_mujoco(model, data, np.zeros(2)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11)
