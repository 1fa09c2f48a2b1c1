"""What a task says, as arrays for compiled code. Objects are numbered as the task lists them; 0 is the robot."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.envs.navigation.course import make_course
from shapo.envs.navigation.models import (
    ROBOT_RADIUS,
    SUBSTEP,
    SUBSTEPS,
    bodies_of,
    body_height,
    body_radius,
    hinge_inertia,
)
from shapo.envs.navigation.tasks import LIDAR_BINS, NUM_SENSORS, Task

ROBOT, GOAL, HAZARD, VASE, BUTTON, GREMLIN, PILLAR, BOX, CIRCLE, WALL = range(10)
KINDS = {
    "goal": GOAL, "hazard": HAZARD, "vase": VASE, "button": BUTTON, "gremlin": GREMLIN, "pillar": PILLAR, "box": BOX,
    "circle": CIRCLE, "wall": WALL,
}  # fmt: skip
REACH_GOAL, PRESS_BUTTONS, PUSH_BOX, RUN_CIRCLES = range(4)
AIMS = {"goal": REACH_GOAL, "button": PRESS_BUTTONS, "push": PUSH_BOX, "circle": RUN_CIRCLES}

FIXED_JITTER = 1e-9  # the original draws even a fixed place, from a rectangle this small


class Rules(NamedTuple):
    """A task, for compiled code."""

    aim: int
    horizon: int
    lidar_range: float
    point: bool
    """Whether the robot is the Point, which has a closed form off contact."""
    hinge_inertia: float
    """Of the Point, about the hinge it turns about, to the last bit as this MuJoCo has it."""
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


def make_rules(task: Task, everything: bool) -> Rules:
    """`task` as arrays; `everything`: MuJoCo shall step everything in every step."""
    kinds, size, costs, lidar = [ROBOT], [0.0], [False], [-1]
    keepout = [task.robot_keepout]
    low = [(-task.extent + task.robot_keepout,) * 2]
    high = [(task.extent - task.robot_keepout,) * 2]
    offset = NUM_SENSORS[task.robot]
    for group in task.objects:
        for k in range(group.count):
            kinds.append(KINDS[group.kind])
            keepout.append(group.keepout)
            size.append(group.size)
            costs.append(group.costs)
            lidar.append(offset if group.seen else -1)
            if group.places:
                x, y = group.places[k]
                low.append((x - FIXED_JITTER, y - FIXED_JITTER))
                high.append((x + FIXED_JITTER, y + FIXED_JITTER))
            else:
                low.append((-task.extent + group.keepout,) * 2)
                high.append((task.extent - group.keepout,) * 2)
        offset += LIDAR_BINS * group.seen
    kind = np.array(kinds, np.int64)
    solids = np.flatnonzero((kind == BUTTON) | (kind == PILLAR))
    bodies = np.flatnonzero((kind == VASE) | (kind == GREMLIN) | (kind == BOX))
    goals, pushed = task.of_kind("goal"), bodies_of(task)
    return Rules(
        aim=AIMS[task.aim],
        horizon=task.horizon,
        lidar_range=task.lidar_range,
        point=task.robot == "point",
        hinge_inertia=hinge_inertia(task),
        everything=everything,
        cylinders=task.robot == "car" or bool(task.of_kind("pillar")),
        step_time=SUBSTEPS * SUBSTEP[task.robot],
        robot_radius=ROBOT_RADIUS[task.robot],
        body_radius=body_radius(pushed) if pushed else 0.0,
        goal_height=goals[0].size / 2 + 0.01 if goals else 0.0,
        body_height=body_height(pushed) if pushed else 0.0,
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
        course=make_course(task),
    )
