"""What n environments are at a moment, and what their task says: two bundles of arrays that compiled code works on.

Every array of `State` has the environment as its first axis. Objects are numbered as the task lists them, from 1;
object 0 is the robot. Objects that can be pushed (vases, gremlins, the box) are *bodies*, numbered from 0.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.envs.navigation import stream
from shapo.envs.navigation.models import ROBOT_SIZES
from shapo.envs.navigation.tasks import Task

ROBOT, GOAL, HAZARD, VASE, BUTTON, GREMLIN, PILLAR, BOX, CIRCLE, WALL = range(10)
KINDS = {
    "goal": GOAL, "hazard": HAZARD, "vase": VASE, "button": BUTTON, "gremlin": GREMLIN, "pillar": PILLAR, "box": BOX,
    "circle": CIRCLE, "wall": WALL,
}  # fmt: skip
REACH_GOAL, PRESS_BUTTONS, PUSH_BOX, RUN_CIRCLES = range(4)
AIMS = {"goal": REACH_GOAL, "button": PRESS_BUTTONS, "push": PUSH_BOX, "circle": RUN_CIRCLES}

ON_COURSE, LOOSE, RESTING = range(3)
"""How a body moves: as if never touched, by MuJoCo alone, or not at all."""

LIDAR_BINS = 16
NUM_SENSORS = {"point": 12, "car": 24}
FIXED_JITTER = 1e-9  # the original draws even a fixed place, from a rectangle this small


class State(NamedTuple):
    """All that decides the future of n environments."""

    words: NDArray[np.uint32]
    """[n, 625] the random stream."""
    robot_q: NDArray[np.float64]
    """[n, nq] Point: x, y, heading. Car: MuJoCo's positions."""
    robot_v: NDArray[np.float64]
    """[n, nv] and the velocities."""
    sensors: NDArray[np.float64]
    """[n, sensors] accelerometer, velocimeter, gyro, magnetometer; the Car's rear ball."""
    spots: NDArray[np.float64]
    """[n, objects, 2] where everything is, seen from above."""
    turns: NDArray[np.float64]
    """[n, objects] by how much everything was turned at the start."""
    body_start: NDArray[np.float64]
    """[n, bodies, 2] where a body started."""
    body_q: NDArray[np.float64]
    """[n, bodies, 7] position and quaternion."""
    body_v: NDArray[np.float64]
    """[n, bodies, 6] velocity and angular velocity."""
    status: NDArray[np.int64]
    """[n, bodies] ON_COURSE, LOOSE or RESTING."""
    goal_button: NDArray[np.int64]
    """[n] which button to press, from 0; -1 where there are none."""
    timer: NDArray[np.int64]
    """[n] steps until buttons are seen, and cost, again."""
    last_goal: NDArray[np.float64]
    """[n] distance that the last reward was measured from: robot to goal, or box to goal."""
    last_box: NDArray[np.float64]
    """[n] likewise robot to box."""
    steps: NDArray[np.int64]
    """[n] steps of this episode so far."""


class Rules(NamedTuple):
    """A task, for compiled code."""

    aim: int
    horizon: int
    lidar_range: float
    point: bool
    """Whether the robot is the Point, which has a closed form off contact."""
    everything: bool
    """Whether MuJoCo steps everything in every step."""
    cylinders: bool
    """Whether cylinders can be touched: pillars, or with the Car's wheels."""
    step_time: float
    """Seconds per step."""
    robot_radius: float
    """Of the circle, around the robot's origin, that holds all of it."""
    body_radius: float
    """Likewise of a body, however it is turned."""
    goal_height: float
    body_height: float
    """Height of a body's centre at the start."""
    goal: int
    """Number of the goal; 0 if there is none."""
    first_solid: int
    """Number of the first object that is solid and never moves."""
    num_solids: int
    first_body: int
    num_bodies: int
    gremlins: bool
    """Whether the bodies are gremlins."""
    kind: NDArray[np.int64]
    """[objects]"""
    low: NDArray[np.float64]
    """[objects, 2] lower corner of the rectangle an object is drawn from."""
    high: NDArray[np.float64]
    """[objects, 2]"""
    keepout: NDArray[np.float64]
    """[objects]"""
    size: NDArray[np.float64]
    """[objects]"""
    costs: NDArray[np.bool_]
    """[objects]"""
    lidar: NDArray[np.int64]
    """[objects] where the object's lidar starts in an observation; -1: unseen."""
    course: NDArray[np.float64]
    """[horizon + 1, 6] an untouched body's place relative to its start, and velocity, after so many steps."""


def observation_size(task: Task) -> int:
    """Length of one observation."""
    return NUM_SENSORS[task.robot] + LIDAR_BINS * sum(group.seen for group in task.objects)


def make_rules(
    task: Task,
    *,
    everything: bool,
    step_time: float,
    robot_radius: float,
    body_radius: float,
    body_height: float,
    course: NDArray[np.float64],
) -> Rules:
    """Turn `task` and what MuJoCo knows of its bodies into arrays."""
    kinds, low, high, keepout, size, costs, lidar = [ROBOT], [], [], [], [0.0], [False], [-1]
    reach = -task.robot_extent + task.robot_keepout, task.robot_extent - task.robot_keepout
    low.append((reach[0], reach[0]))
    high.append((reach[1], reach[1]))
    keepout.append(task.robot_keepout)
    offset = NUM_SENSORS[task.robot]
    for group in task.objects:
        for k in range(group.count):
            kinds.append(KINDS[group.kind])
            keepout.append(group.keepout)
            size.append(group.size)
            costs.append(group.costs)
            lidar.append(offset if group.seen else -1)
            if group.places:
                low.append(tuple(c - FIXED_JITTER for c in group.places[k]))
                high.append(tuple(c + FIXED_JITTER for c in group.places[k]))
            else:
                low.append((-task.extent + group.keepout,) * 2)
                high.append((task.extent - group.keepout,) * 2)
        offset += LIDAR_BINS * group.seen
    kind = np.array(kinds, np.int64)
    solids = np.flatnonzero((kind == BUTTON) | (kind == PILLAR))
    bodies = np.flatnonzero((kind == VASE) | (kind == GREMLIN) | (kind == BOX))
    goals = task.of_kind("goal")
    return Rules(
        aim=AIMS[task.aim],
        horizon=task.horizon,
        lidar_range=task.lidar_range,
        point=task.robot == "point",
        everything=everything,
        cylinders=task.robot == "car" or bool(task.of_kind("pillar")),
        step_time=step_time,
        robot_radius=robot_radius,
        body_radius=body_radius,
        goal_height=goals[0].size / 2 + 0.01 if goals else 0.0,
        body_height=body_height,
        goal=kinds.index(GOAL) if goals else 0,
        first_solid=int(solids[0]) if len(solids) else 0,
        num_solids=len(solids),
        first_body=int(bodies[0]) if len(bodies) else 0,
        num_bodies=len(bodies),
        gremlins=bool(np.any(kind == GREMLIN)),
        kind=kind,
        low=np.array(low),
        high=np.array(high),
        keepout=np.array(keepout),
        size=np.array(size),
        costs=np.array(costs),
        lidar=np.array(lidar, np.int64),
        course=course,
    )


def allocate(task: Task, rules: Rules, num_envs: int) -> State:
    """A state of `num_envs` environments that have not begun."""
    nq, nv = ROBOT_SIZES[task.robot]
    objects, bodies = len(rules.kind), rules.num_bodies
    return State(
        words=np.zeros((num_envs, stream.WORDS), np.uint32),
        robot_q=np.zeros((num_envs, nq)),
        robot_v=np.zeros((num_envs, nv)),
        sensors=np.zeros((num_envs, NUM_SENSORS[task.robot])),
        spots=np.zeros((num_envs, objects, 2)),
        turns=np.zeros((num_envs, objects)),
        body_start=np.zeros((num_envs, bodies, 2)),
        body_q=np.zeros((num_envs, bodies, 7)),
        body_v=np.zeros((num_envs, bodies, 6)),
        status=np.zeros((num_envs, bodies), np.int64),
        goal_button=np.full(num_envs, -1),
        timer=np.zeros(num_envs, np.int64),
        last_goal=np.zeros(num_envs),
        last_box=np.zeros(num_envs),
        steps=np.zeros(num_envs, np.int64),
    )
