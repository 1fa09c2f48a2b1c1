"""Pictures without a screen, and what is said where none can be made."""

import ctypes

import mujoco
import numpy as np
import pytest

from shapo import envs
from shapo.envs import rendering

BALL = """<mujoco><worldbody>
<light pos="0 0 3"/><geom type="sphere" size="1" rgba="1 0 0 1"/>
</worldbody></mujoco>"""


def test_the_user_chooses(monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "OSMesa")
    assert rendering.backend() == "osmesa"


@pytest.mark.parametrize(
    ("installed", "expected"),
    [({"libEGL.so.1", "libOSMesa.so.8"}, "egl"), ({"libOSMesa.so.8"}, "osmesa")],
)
def test_egl_comes_before_osmesa(monkeypatch, installed, expected):
    _pretend(monkeypatch, installed)
    assert rendering.backend() == expected


def test_without_either_the_error_names_the_packages(monkeypatch):
    _pretend(monkeypatch, set())
    env = envs.make("Hopper-v4", 1)
    env.reset(0)
    with pytest.raises(rendering.RenderingUnavailable, match=r"libegl1.*libosmesa6") as error:
        env.render()
    assert "\n" not in str(error.value)


def test_a_context_that_fails_names_the_packages_too(monkeypatch):
    class Broken:
        def __init__(self, width, height):
            raise ImportError("no device\nand a long story")

    monkeypatch.setattr(rendering.mujoco, "GLContext", Broken)
    monkeypatch.setenv("MUJOCO_GL", "glfw")
    with pytest.raises(rendering.RenderingUnavailable, match=r"glfw \(no device\).*libegl1"):
        rendering._context(8, 8)


def test_pictures_follow_the_robot():
    env = envs.make("Walker2d-v4", 2)
    env.reset(0)
    first = env.render(0, width=120, height=80)
    assert (first.shape, first.dtype) == ((80, 120, 3), np.uint8)
    assert first.std() > 10
    state = env.get_state()
    for _ in range(15):
        env.step(np.ones((2, 6)))
    assert np.abs(env.render(0, width=120, height=80).astype(int) - first).mean() > 1
    env.set_state(state)
    np.testing.assert_array_equal(env.render(0, width=120, height=80), first)
    assert env.render(1, width=64, height=64).shape == (64, 64, 3)
    env.close()


@pytest.mark.parametrize("ends", ["another size", "closed", "forgotten"])
def test_what_one_renderer_frees_is_not_anothers(ends):
    model = mujoco.MjModel.from_xml_string(BALL)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    first, second = rendering.Renderer(model), rendering.Renderer(model)
    first.frame(data, mujoco.MjvCamera(), 64, 64)
    picture = second.frame(data, mujoco.MjvCamera(), 100, 80)
    assert picture.std() > 10
    match ends:
        case "another size":
            first.frame(data, mujoco.MjvCamera(), 120, 120)
        case "closed":
            first.close()
        case "forgotten":
            del first
    np.testing.assert_array_equal(second.frame(data, mujoco.MjvCamera(), 100, 80), picture)
    second.close()


def test_a_picture_leaves_the_future_alone():
    drawn, plain = envs.make("Hopper-v4", 1), envs.make("Hopper-v4", 1)
    drawn.reset(0)
    plain.reset(0)
    for _ in range(5):
        drawn.render(width=32, height=32)
        action = np.full((1, 3), 0.3)
        np.testing.assert_array_equal(drawn.step(action).obs, plain.step(action).obs)
    drawn.close()


def _pretend(monkeypatch, installed):
    def load(name):
        if name not in installed:
            raise OSError(name)

    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.setattr(rendering.platform, "system", lambda: "Linux")
    monkeypatch.setattr(ctypes, "CDLL", load)
