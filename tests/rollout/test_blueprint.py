"""An environment by name, with what the names of an experiment make of it."""

from typing import ClassVar

import gymnasium
import numpy as np
import pytest
from toy_env import Toy

from shapo.envs import Saute
from shapo.envs.saute import Budget
from shapo.experiment import Experiment
from shapo.experiment.extensions import Recorded
from shapo.rollout.blueprint import Blueprint

PENDULUM = Experiment(env="Pendulum-v1", algo="trpo-pid", cost="own_rules:too_fast(limit=0.5)")


def steps(env, count=20):
    env.reset(0)
    return [env.step(np.full((env.num_envs, 1), 2.0)) for _ in range(count)]


def test_a_function_of_yours_is_the_cost():
    found = steps(Blueprint(PENDULUM).build(2, 0))
    for step in found:
        np.testing.assert_array_equal(step.cost, np.abs(step.last_obs[:, 2]) > 0.5)
    assert {0.0, 1.0} == {float(cost) for step in found for cost in step.cost}


def test_a_factory_of_yours_is_given_its_keywords_and_the_algorithm_s_wrapper():
    experiment = Experiment(env="toy_env:Toy(horizon=7)")
    assert Blueprint(experiment).build(3, 0).horizon == 7
    wrapped = Blueprint(experiment, wrapper=Budget((3.0,))).build(3, 0)
    assert isinstance(wrapped, Saute) and wrapped.horizon == 7


@pytest.mark.parametrize(
    "choices, complaint",
    [
        ({"env": "SafetyPointGoal1-v0"}, "SafetyPointGoal1-v0 has its own cost; another is for"),
        ({"env": "toy_env:Toy"}, "toy_env:Toy has its own cost"),
        ({"cost": "own_rules:slow"}, "there is no slow in own_rules"),
        ({"cost_limit": (1.0, 2.0)}, "has 1 cost signal, and cost_limit names 2 limits: 1, 2"),
        ({"env": "toy_env:Toy(size=3)"}, "unexpected keyword argument 'size'"),
        ({"env": "custom: <lambda> in m"}, "the environment was a Python object"),
        ({"env": Recorded("toy_env:Toy")}, "add --env toy_env:Toy"),
        ({"cost": Recorded("own_rules:too_fast")}, "own_rules:too_fast is named by a file only"),
    ],
)
def test_what_cannot_be_is_said(choices, complaint):
    with pytest.raises(ValueError, match=complaint):
        Blueprint(PENDULUM.replace(**choices)).build(1, 0)


class Closing(Toy):
    """Notes that it was closed."""

    closed: ClassVar[list[int]] = []

    def close(self):
        self.closed.append(self.num_envs)


@pytest.mark.parametrize(
    "blueprint",
    [
        Blueprint(Experiment(env="Toy", cost_limit=(1.0, 2.0)), Closing),
        Blueprint(Experiment(env="Toy"), Closing, Budget((0.0,))),
    ],
)
def test_what_was_built_is_closed_if_it_is_refused(monkeypatch, blueprint):
    monkeypatch.setattr(Closing, "closed", [])
    with pytest.raises(ValueError, match=r"cost_limit"):
        blueprint.build(3, 0)
    assert Closing.closed == [3]
    Blueprint(Experiment(env="Toy"), Closing, Budget((1.0,))).build(3, 0)
    assert Closing.closed == [3]


class Lit(gymnasium.Env):
    """Somebody's, registered, that draws if it was told so when it was made."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}  # noqa: RUF012
    observation_space = action_space = gymnasium.spaces.Box(-1, 1, (1,))

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def reset(self, *, seed=None, options=None):
        return np.zeros(1, np.float32), {}

    def step(self, action):
        return np.zeros(1, np.float32), 0.0, False, False, {"cost": 0.0}

    def render(self):
        return np.full((4, 4, 3), 7, np.uint8) if self.render_mode else None


class Unlit(Lit):
    """Has nothing to draw with."""

    def render(self):
        raise gymnasium.error.DependencyNotInstalled("pens are not installed, buy some")


@pytest.fixture
def registered():
    ids = {f"{kind.__name__}-v0": kind for kind in (Lit, Unlit)}
    for id, kind in ids.items():
        gymnasium.register(id, kind, max_episode_steps=5)
    yield
    for id in ids:
        del gymnasium.registry[id]


def test_gymnasium_s_own_are_told_to_draw_where_there_is_something_to_see(registered):
    frame = Blueprint(Experiment(env="Lit-v0")).build_to_draw(0).render()
    assert frame.shape == (4, 4, 3) and (frame == 7).all()
    with pytest.raises(ValueError, match="Lit-v0: make it with render_mode"):
        Blueprint(Experiment(env="Lit-v0")).build(1, 0).render()
    with pytest.raises(ValueError, match=r"^Unlit-v0 cannot be drawn: pens are not installed"):
        Blueprint(Experiment(env="Unlit-v0")).build_to_draw(0).render()
    assert Blueprint(Experiment(env="toy_env:Toy")).build_to_draw(0).render().any()
