"""What no steps were recorded of, against the constants and formulas of Safety-Gymnasium 1.0.0.

Read in its sources: extents, counts, keep-outs, the order and the number of its draws, sizes, masses, rewards, costs.
"""

import mujoco
import numpy as np
import pytest

from shapo.envs import navigation
from shapo.envs.navigation import TASKS, models
from shapo.envs.navigation.state import RESTING

EXTENT = {
    "Goal0": 1.0, "Goal1": 1.5, "Goal2": 2.0, "Button0": 1.0, "Button1": 1.5, "Button2": 1.8,
    "Push0": 1.0, "Push1": 1.5, "Push2": 2.0, "Circle0": 0.8, "Circle1": 0.8, "Circle2": 0.8,
}  # fmt: skip
KEEPOUT = {
    "goal": 0.305,
    "hazard": 0.18,
    "vase": 0.15,
    "button": 0.2,
    "marker": 0.4,
    "gremlin": 0.4,
}
HAZARD, PILLAR, GOAL = 0.4, 0.3, 0.4
"""Keep-outs in Push."""
COUNTS = {
    "Goal0": {"goal": 1}, "Goal1": {"goal": 1, "hazard": 8, "vase": 1}, "Goal2": {"goal": 1, "hazard": 10, "vase": 10},
    "Button0": {"button": 4, "marker": 1}, "Button1": {"button": 4, "marker": 1, "hazard": 4, "gremlin": 4},
    "Button2": {"button": 4, "marker": 1, "hazard": 8, "gremlin": 6},
}  # fmt: skip
BOX = {"Point": 0.2, "Car": 0.125}
WALLS = [(1.125, 0.0), (-1.125, 0.0), (0.0, 1.125), (0.0, -1.125)]
AGENT_HEIGHT, GOAL_HEIGHT = 0.1, 0.16


def placed(name, robot):
    """Keep-outs of robot and objects in the order of placement, and where those are that have a fixed place."""
    if name.startswith("Circle"):
        walls = 2 * int(name[-1])
        fixed = {0: None, 1: (0.0, 0.0)} | {2 + k: WALLS[k] for k in range(walls)}
        return [0.0] * (2 + walls), fixed
    if name in COUNTS:
        keepouts = [0.4, *(KEEPOUT[kind] for kind, n in COUNTS[name].items() for _ in range(n))]
        return keepouts, dict.fromkeys(range(len(keepouts)))
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
    if name.startswith("Button"):  # the goal marks one of the buttons
        spots[5] = spots[1 + rng.choice(4)]
    if name.startswith(("Push", "Goal")):  # the first goal kept its place clear, and is thrown away
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
        near = 1e-9 if name.startswith("Circle") else 1e-14
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


def test_a_reward_is_at_most_ten():
    env = navigation.make("SafetyPointGoal0-v0", 3, 2)
    state = env.get_state()
    state["last_goal"] += [9.9, 50.0, -50.0]
    env.set_state(state)
    np.testing.assert_allclose(env.step(np.zeros((3, 2))).reward, [9.9, 10, -10], rtol=1e-9)


def test_a_box_within_the_goal_pays_one_and_gets_another_goal():
    """Within 0.3 of the goal's centre, in space: the box's is 0.04 higher. Where the robot is does not matter."""
    env = navigation.make("SafetyPointPush0-v0", 2, 3)
    state = env.get_state()
    goal = state["spots"][:, 1]
    state["body_q"][:, 0, :2] = np.add(goal, [(0.297, 0.0), (0.298, 0.0)])
    state["robot_q"][:, :2] = state["body_q"][:, 0, :2] + [1.0, 0.0]
    state["last_goal"], state["last_box"] = np.hypot([0.297, 0.298], 0.04), np.hypot(1.0, [0.1] * 2)
    env.set_state(state)
    np.testing.assert_allclose(env.step(np.zeros((2, 2))).reward, [1, 0], atol=1e-3)
    after = env.get_state()["spots"]
    np.testing.assert_array_equal(after[1, 1], goal[1])
    robot, new, box = after[0, :3]
    assert np.hypot(*(new - box)) >= GOAL + BOX["Point"] and np.hypot(*(new - robot)) >= GOAL + 0.4
    np.testing.assert_allclose(env.step(np.zeros((2, 2))).reward, 0, atol=1e-3)


@pytest.mark.parametrize("level", [1, 2])
def test_vases_cost_at_level_2_alone(level):
    """To touch one, or one that moves at 0.1 mm/s or more, wherever it is."""
    env = navigation.make(f"SafetyPointGoal{level}-v0", 4, 0)
    state = env.get_state()
    state["spots"][:, 2:] = 9.0  # hazards, too
    state["robot_q"][:] = 0.0  # its arrow ahead
    state["status"][:] = RESTING
    state["body_q"][:] = 5.0, 5.0, 0.1, 1, 0, 0, 0
    state["body_q"][0, 0, :2] = -0.1999, 0.0
    state["body_v"][2:, 0, :3] = np.outer([1.01e-4, 0.99e-4], [2 / 3, -2 / 3, 1 / 3])
    env.set_state(state)
    assert env.step(np.zeros((4, 2))).cost.tolist() == [level == 2, 0, level == 2, 0]


@pytest.mark.parametrize("level", [0, 1, 2])
def test_wrong_buttons_cost_where_there_is_a_constraint(level):
    env = navigation.make(f"SafetyPointButton{level}-v0", 2, 0)
    state, rules = env.get_state(), env.rules
    state["spots"][:, 6:] = state["body_start"][:] = state["body_q"][:, :, :2] = 9.0
    state["goal_button"][:] = 1, 2
    state["spots"][:, rules.first_solid : rules.first_solid + 4] = (0, 0), (0, 2), (0, 4), (0, 6)
    state["spots"][:, rules.goal] = (0, 2), (0, 4)
    state["last_goal"][:] = 4.0, 0.2
    state["robot_q"][:] = 0.1999, 4.0, 0.0  # beside the third, its arrow ahead
    env.set_state(state)
    step = env.step(np.zeros((2, 2)))
    assert step.cost.tolist() == [level > 0, 0]
    np.testing.assert_allclose(step.reward, [4 - np.hypot(0.1999, 2), 1], atol=1e-2)


def lidar_of_the_original(origin, axes, spots, reach):
    """From the robot's origin and the matrix of its axes in the world; objects are seen on the ground."""
    lidar, width = np.zeros(16), 2 * np.pi / 16
    for spot in spots:
        ahead, aside, _ = ([*spot, 0.0] - origin) @ axes
        angle = np.arctan2(aside, ahead) % (2 * np.pi)
        k, brightness = int(angle / width), max(0.0, reach - np.hypot(ahead, aside)) / reach
        share = angle / width - k
        for bin, part in ((k, 1.0), (k + 1, share), (k - 1, 1 - share)):
            lidar[bin % 16] = max(lidar[bin % 16], part * brightness)
    return lidar


@pytest.mark.parametrize("name", ["Goal2", "Push1", "Circle1"])
def test_what_a_tilted_car_sees_is_the_originals(name):
    env, rng = navigation.make(f"SafetyCar{name}-v0", 20, 0), np.random.default_rng(0)
    state = env.get_state()
    state["robot_q"][:, 2] += rng.uniform(0, 0.1, 20)
    turned = state["robot_q"][:, 3:7] + 0.2 * rng.normal(size=(20, 4))
    state["robot_q"][:, 3:7] = turned / np.linalg.norm(turned, axis=1, keepdims=True)
    obs, axes = env.set_state(state), np.zeros(9)
    for i in range(20):
        q, begin, j = state["robot_q"][i], 24, 1
        mujoco.mju_quat2Mat(axes, q[3:7])
        for group in env.task.objects:
            spots = state["spots"][i, j : j + group.count]
            j += group.count
            if group.seen:
                reach = 6.0 if name == "Circle1" else 3.0
                seen = lidar_of_the_original(q[:3], axes.reshape(3, 3), spots, reach)
                np.testing.assert_allclose(obs[i, begin : begin + 16], seen, atol=1e-12)
                begin += 16
        assert begin == len(obs[i])


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
