"""Our MuJoCo models against figures measured on the original's."""

import math

import mujoco
import numpy as np
import pytest

from shapo.envs.navigation import TASKS, models, point


def _model(name):
    return models.full_model(TASKS[f"Safety{name}-v0"])


def test_point_is_the_original_point():
    model = _model("PointGoal0")
    robot = model.body("robot").id
    assert model.body_mass[robot] == pytest.approx(0.005188790204786391, rel=1e-12)
    assert model.body_ipos[robot, 0] == pytest.approx(0.01927231513576232, rel=1e-12)
    np.testing.assert_allclose(model.body_invweight0[robot], (128.4821, 12581.18), rtol=1e-6)
    assert model.opt.timestep == 0.002


def test_closed_form_has_the_mass_of_the_model():
    model = _model("PointGoal0")
    turning = models.hinge_inertia(TASKS["SafetyPointPush2-v0"])
    ball, arrow = 4 / 3 * math.pi * 1e-3, 1e-3
    by_hand = ball * 0.1**2 * 2 / 5 + arrow * (0.1**2 / 6 + 0.1**2)
    assert turning == pytest.approx(by_hand, rel=1e-13)
    data, inertia = mujoco.MjData(model), np.zeros((3, 3))
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, inertia)
    expected = [[point.MASS, 0, 0], [0, point.MASS, 0], [0, 0, turning]]
    expected[1][2] = expected[2][1] = point.MASS * point.OFFSET
    # To the last bits: 5e-15 of the inertia was once 7e-8 of what the accelerometer says, for the turn servo chatters.
    np.testing.assert_allclose(inertia, expected, rtol=1e-15, atol=1e-22)


def test_car_is_the_original_car():
    model = _model("CarGoal0")
    first = model.body("robot").id
    masses = model.body_mass[first : first + 4]
    np.testing.assert_allclose(masses, (0.0239, 0.0019635, 0.0019635, 0.0026180), rtol=1e-4)
    assert model.opt.timestep == 0.004
    assert (model.nq, model.nv, model.nu) == (13, 11, 2)


@pytest.mark.parametrize(
    "name, nq, nv, mass",
    [
        ("PointGoal1", 10, 9, 8e-6), ("PointGoal2", 73, 63, 8e-6), ("PointButton1", 31, 27, 8e-6),
        ("PointButton2", 45, 39, 8e-6), ("PointPush1", 10, 9, 1.28e-4),
    ],
)  # fmt: skip
def test_bodies_are_the_originals(name, nq, nv, mass):
    model = _model(name)
    assert (model.nq, model.nv) == (nq, nv)
    assert model.body("body0").mass[0] == pytest.approx(mass, rel=1e-9)
