"""How bodies move that nobody touches: a table over time, made once with MuJoCo.

Gremlins circle, all in step; vases sink into the floor by a hair. Where they started and how they were turned does
not matter. The box has no course: it bounces a little at first, each time differently.
"""

# MuJoCo's extension modules hide their names from a type checker.
# pyright: reportAttributeAccessIssue=false

from functools import lru_cache

import mujoco
import numpy as np
from numpy.typing import NDArray

from shapo.envs.navigation.models import (
    GREMLIN_FLIGHT,
    ROBOT_SIZES,
    SUBSTEP,
    SUBSTEPS,
    bodies_of,
    body_height,
    make_model,
)
from shapo.envs.navigation.tasks import Objects, Task

GREMLIN_TRAVEL = 0.35
SETTLED = 100
"""Steps after which a vase no longer sinks."""


def gremlin_swing(task: Task) -> NDArray[np.float64]:
    """[horizon x substeps, 2] where gremlins are pulled to, relative to their start, before each substep."""
    # MuJoCo's clock adds up substeps; a product would round differently.
    ticks = np.full(task.horizon * SUBSTEPS, SUBSTEP[task.robot])
    time = np.concatenate([[0.0], np.cumsum(ticks)[:-1]])
    return GREMLIN_TRAVEL * np.stack([np.sin(time), np.cos(time)], axis=1)


@lru_cache(maxsize=64)
def make_course(task: Task) -> NDArray[np.float64]:
    """[horizon + 1, 6] place relative to the start and velocity of an untouched body after so many steps."""
    bodies = bodies_of(task)
    course = np.zeros((task.horizon + 1, 6))
    if bodies is not None and bodies.kind != "box":
        _fill(course, task, bodies)
    course.flags.writeable = False
    return course


def _fill(course: NDArray[np.float64], task: Task, bodies: Objects) -> None:
    model = make_model(task, 1)
    data = mujoco.MjData(model)
    nq, nv = ROBOT_SIZES[task.robot]
    height = body_height(bodies)
    data.qpos[:2] = 100.0  # the robot must not be in the way
    data.mocap_pos[:, :2] = -100.0
    data.qpos[nq : nq + 7] = 0, 0, height, 1, 0, 0, 0
    gremlins = bodies.kind == "gremlin"
    swing = gremlin_swing(task) if gremlins else np.empty((0, 2))
    for step in range(1, (task.horizon if gremlins else SETTLED) + 1):
        for substep in range(SUBSTEPS * (step - 1), SUBSTEPS * step):
            if gremlins:
                data.mocap_pos[-1] = *swing[substep], GREMLIN_FLIGHT
            data.qacc_warmstart[:] = 0
            mujoco.mj_step(model, data)
        course[step, :3] = data.qpos[nq : nq + 3] - (0, 0, height)
        course[step, 3:] = data.qvel[nv : nv + 3]
    if not gremlins:
        course[SETTLED:] = *course[SETTLED, :3], 0, 0, 0
