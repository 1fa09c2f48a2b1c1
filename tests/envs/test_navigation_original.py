"""Push, Circle and Car against the constants and formulas of Safety-Gymnasium 1.0.0, of which no steps were recorded.

Read in its sources: extents, counts, keep-outs, the order and the number of its draws, sizes, masses, rewards, costs.
"""

import mujoco
import numpy as np
import pytest

from shapo.envs import navigation
from shapo.envs.navigation import TASKS, models

EXTENT = {"Push0": 1.0, "Push1": 1.5, "Push2": 2.0, "Circle1": 0.8, "Circle2": 0.8}
HAZARD, PILLAR, GOAL = 0.4, 0.3, 0.4
"""Keep-outs in Push."""
BOX = {"Point": 0.2, "Car": 0.125}
WALLS = [(1.125, 0.0), (-1.125, 0.0), (0.0, 1.125), (0.0, -1.125)]
AGENT_HEIGHT, GOAL_HEIGHT = 0.1, 0.16


def placed(name, robot):
    """Keep-outs of robot and objects in the order of placement, and where those are that have a fixed place."""
    if name.startswith("Circle"):
        walls = 2 * int(name[-1])
        fixed = {0: None, 1: (0.0, 0.0)} | {2 + k: WALLS[k] for k in range(walls)}
        return [0.0] * (2 + walls), fixed
    hazards, pillars = {"0": (0, 0), "1": (2, 1), "2": (4, 4)}[name[-1]]
    keepouts = [0.4, GOAL, *[HAZARD] * hazards, *[PILLAR] * pillars, BOX[robot]]
    return keepouts, dict.fromkeys(range(len(keepouts)))


def reset_of_the_original(name, robot, seed):
    """Places and turns, drawn as the original draws them."""
    rng, (keepouts, fixed), extent = np.random.RandomState(seed), placed(name, robot), EXTENT[name]

    def draw(j):
        x, y = fixed[j] or (0.0, 0.0)
        half = 1e-9 if fixed[j] else extent - keepouts[j]
        return rng.uniform(x - half, x + half), rng.uniform(y - half, y + half)

    def clear(j, place, spots):
        return all(np.hypot(*np.subtract(place, spots[k])) >= keepouts[k] + keepouts[j] for k in spots)  # fmt: skip

    def layout():
        spots = {}
        for j in range(len(keepouts)):
            place = next((p for p in (draw(j) for _ in range(100)) if clear(j, p, spots)), None)
            if place is None:
                return None
            spots[j] = place
        return spots

    spots = next(found for found in iter(layout, 0) if found)
    turns = rng.uniform(0, 2 * np.pi, len(keepouts))
    if name.startswith("Push"):  # the first goal kept its place clear, and is thrown away
        del spots[1]
        spots[1] = next(place for place in iter(lambda: draw(1), 0) if clear(1, place, spots))
    return np.array([spots[j] for j in range(len(keepouts))]), turns


@pytest.mark.parametrize("robot", ["Point", "Car"])
@pytest.mark.parametrize("name", EXTENT)
def test_layouts_are_the_originals(name, robot):
    env = navigation.make(f"Safety{robot}{name}-v0", 5, 0)
    state = env.get_state()
    for seed in range(5):
        spots, turns = reset_of_the_original(name, robot, seed)
        # Ours draws a fixed place as the original does, and then leaves the thing where it is meant to be.
        near = 1e-14 if name.startswith("Push") else 1e-9
        np.testing.assert_allclose(state["spots"][seed], spots, rtol=0, atol=near)
        np.testing.assert_allclose(state["spots"][seed, 0], spots[0], rtol=0, atol=1e-14)
        turned = [0, -1] if name.startswith("Push") else [0]  # whose turn anybody could see
        np.testing.assert_allclose(state["turns"][seed, turned], turns[turned], rtol=0, atol=1e-14)


@pytest.mark.parametrize("robot", ["Point", "Car"])
def test_pushing_is_paid_by_distances_in_space(robot):
    """r = (last box − box) + (last goal − goal), from the box's centre to the robot's and the goal's in space."""
    env = navigation.make(f"Safety{robot}Push0-v0", 1, 3)

    def distances():
        state = env.get_state()
        height = AGENT_HEIGHT if robot == "Point" else state["robot_q"][0, 2]
        agent = np.array([*state["robot_q"][0, :2], height])
        goal, box = np.array([*state["spots"][0, 1], GOAL_HEIGHT]), state["body_q"][0, 0, :3]
        return np.linalg.norm(box - agent), np.linalg.norm(box - goal)

    state, (box, goal) = env.get_state(), distances()
    np.testing.assert_allclose([*state["last_box"], *state["last_goal"]], [box, goal], rtol=1e-9)
    state["last_box"] += 0.5
    state["last_goal"] += 0.25
    env.set_state(state)
    reward, after = env.step(np.ones((1, 2))).reward[0], distances()
    assert reward == pytest.approx(0.75 + box + goal - sum(after), abs=1e-9)
    assert abs(reward - 0.75) > 1e-5


@pytest.mark.parametrize("level, costs", [(1, [1, 0, 0]), (2, [1, 0, 1])])
def test_what_costs_in_push(level, costs):
    """Hazards within 0.3 of the robot's origin; to touch a pillar costs at level 2 alone."""
    env = navigation.make(f"SafetyPointPush{level}-v0", 3, 0)
    state, rules = env.get_state(), env.rules
    hazard, pillar = state["spots"][:, 2], state["spots"][:, rules.first_solid]
    # The ball's radius is 0.1, a pillar's 0.2; it looks away from the pillar, for its arrow would touch it, too.
    places = [hazard[0] + [0.299, 0], hazard[1] + [0.301, 0], pillar[2] + [0.2999, 0]]
    state["robot_q"][:] = [(*place, 0.0) for place in places]
    env.set_state(state)
    assert env.step(np.zeros((3, 2))).cost.tolist() == costs


@pytest.mark.parametrize("robot", ["Point", "Car"])
def test_running_in_circles_is_paid_as_in_the_original(robot):
    """r = 0.1 (−u y + v x) / ρ / (1 + |ρ − 1.5|)"""
    env = navigation.make(f"Safety{robot}Circle1-v0", 3, 0)
    state = env.get_state()
    state["robot_q"][:, :2] = [(0.6, 0.3), (-1.2, 0.9), (0.1, -1.9)]
    state["robot_v"][:, :2] = [(0.2, 0.5), (-0.4, 0.1), (1.0, 0.0)]
    env.set_state(state)
    step, after = env.step(np.zeros((3, 2))), env.get_state()
    (x, y), (u, v) = after["robot_q"][:, :2].T, after["robot_v"][:, :2].T
    rho = np.hypot(x, y)
    paid = 0.1 * (-u * y + v * x) / rho / (1 + np.abs(rho - 1.5))
    assert np.abs(paid).min() > 1e-3
    np.testing.assert_allclose(step.reward, paid, rtol=1e-12)
    # Its lidar sees the centre as far as 6 away; a Car may be tilted.
    np.testing.assert_allclose(
        step.obs[:, -16:].max(1), 1 - rho / 6, rtol=1e-12 if robot == "Point" else 1e-3
    )


def test_the_cars_parts_are_the_originals():
    model = models.full_model(TASKS["SafetyCarPush1-v0"])
    first = model.body("robot").id
    boxes = [
        (0.1, 0.1, 0.05, 0, 0, 0), (0.1, 0.01, 0.05, 0, 0.15, 0), (0.01, 0.025, 0.03, 0, 0.125, 0),
        (0.05, 0.01, 0.05, 0, -0.165, 0), (0.05, 0.03, 0.01, 0, -0.13, 0.04),
    ]  # fmt: skip
    own = np.flatnonzero(model.geom_bodyid == first)
    np.testing.assert_allclose(np.hstack([model.geom_size[own], model.geom_pos[own]]), boxes)
    np.testing.assert_allclose(
        model.body_pos[first + 1 : first + 4], [(-0.1, 0.1, -0.05), (0.1, 0.1, -0.05), (0, -0.1, -0.05)]
    )  # fmt: skip
    np.testing.assert_allclose(model.dof_damping[:11], [0] * 6 + [0.001] * 5)
    np.testing.assert_array_equal(model.actuator_forcerange, [(-0.02, 0.02)] * 2)
    half, density = 0.125, 0.0005
    assert model.body("body0").mass[0] == pytest.approx(density * (8 * half**3 + 4 * 8 * half**3 / 4))  # fmt: skip
    (pillar,) = (
        b for b in range(model.nbody) if model.body_mocapid[b] >= 0 and model.body_geomnum[b]
    )
    shape = model.geom(model.body_geomadr[pillar])
    assert shape.type[0] == mujoco.mjtGeom.mjGEOM_CYLINDER and shape.size[:2].tolist() == [0.2, 0.5]


def test_the_cars_motors_saturate_at_a_fiftieth():
    steps = []
    for push in (0.02, 1.0):
        env = navigation.make("SafetyCarGoal1-v0", 1, 0)
        steps.append(np.array([env.step(np.array([[push, -push]])).obs for _ in range(20)]))
    np.testing.assert_array_equal(*steps)
    assert np.abs(steps[0][-1, 0, 6:9]).max() > 0.1, "it turns"
