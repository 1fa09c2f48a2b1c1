"""What n environments are at a moment: a bundle of arrays that compiled code works on.

Every array has the environment as its first axis. Objects are numbered as the task lists them, from 1;
object 0 is the robot. Objects that can be pushed (vases, gremlins, the box) are *bodies*, numbered from 0.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.envs.navigation import stream
from shapo.envs.navigation.models import ROBOT_SIZES, bodies_of
from shapo.envs.navigation.tasks import NUM_SENSORS, Task

ON_COURSE, LOOSE, RESTING = range(3)
"""How a body moves: as if never touched, by MuJoCo alone, or not at all."""


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


def allocate(task: Task, num_envs: int) -> State:
    """A state of `num_envs` environments that have not begun."""
    nq, nv = ROBOT_SIZES[task.robot]
    objects = 1 + sum(group.count for group in task.objects)
    pushed = bodies_of(task)
    bodies = pushed.count if pushed else 0
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
