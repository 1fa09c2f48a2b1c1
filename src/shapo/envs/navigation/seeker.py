"""A scripted policy that goes for things: for benchmarks and tests, where random actions touch next to nothing."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shapo.envs.navigation.env import Navigation

PATIENCE = 60
"""Steps after which a seeker of everything goes for the next object."""


def policy(env: Navigation) -> Callable[[NDArray], NDArray[np.float64]]:
    """`seek` as a function of observations, which it does not need."""
    return lambda obs: seek(env)


def seek(env: Navigation) -> NDArray[np.float64]:
    """Actions [n, 2] that do what the task asks for, by the shortest way."""
    state = env.get_state()
    robot = state["spots"][:, 0]
    if env.task.aim == "circle":
        return _steer(env, state["robot_q"], _tangent(robot))
    goal = state["spots"][:, env.rules.goal]
    if env.task.aim == "push":
        box = state["spots"][:, env.rules.first_body]
        return _steer(env, state["robot_q"], _behind(box, goal, robot) - robot)
    return _steer(env, state["robot_q"], goal - robot)


def seek_everything(env: Navigation) -> NDArray[np.float64]:
    """Actions [n, 2] that run into one object after the other: goal, solids and bodies."""
    state, rules = env.get_state(), env.rules
    prey = [
        *([rules.goal] if rules.goal else []),
        *range(rules.first_solid, rules.first_solid + rules.num_solids),
        *range(rules.first_body, rules.first_body + rules.num_bodies),
    ]
    if not prey:
        return seek(env)
    turn = state["steps"] // PATIENCE + np.arange(env.num_envs)
    target = np.take(prey, turn % len(prey))
    spots = state["spots"]
    return _steer(env, state["robot_q"], spots[np.arange(env.num_envs), target] - spots[:, 0])


def _tangent(robot: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counter-clockwise around the origin, pulled towards a circle of radius 1."""
    radius = np.linalg.norm(robot, axis=1, keepdims=True) + 1e-9
    outward = robot / radius
    return np.stack([-outward[:, 1], outward[:, 0]], axis=1) + (1.0 - radius) * outward


def _behind(
    box: NDArray[np.float64], goal: NDArray[np.float64], robot: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Where to go to push `box` to `goal`: behind the box first, then into it."""
    away = (box - goal) / (np.linalg.norm(box - goal, axis=1, keepdims=True) + 1e-9)
    along = np.sum((robot - box) * away, axis=1, keepdims=True)
    aside = np.linalg.norm(robot - box - along * away, axis=1, keepdims=True)
    lined_up = (along > 0) & (aside < 0.15)
    return np.where(lined_up, box, box + 0.6 * away)


def _heading(env: Navigation, q: NDArray[np.float64]) -> NDArray[np.float64]:
    if env.task.robot == "point":
        return q[:, 2]
    # The Car's front is its -y side.
    return 2 * np.arctan2(q[:, 6], q[:, 3]) - np.pi / 2


def _steer(
    env: Navigation, q: NDArray[np.float64], towards: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Turn to `towards` and go once the direction is about right."""
    error = np.arctan2(towards[:, 1], towards[:, 0]) - _heading(env, q)
    error = (error + np.pi) % (2 * np.pi) - np.pi
    drive = np.where(np.cos(error) > 0.5, 1.0, 0.0)
    turn = np.clip(2 * error, -1, 1)
    if env.task.robot == "point":
        return np.stack([drive, turn], axis=1)
    # Both wheels saturate at 0.02.
    return 0.02 * np.clip(np.stack([drive + turn, drive - turn], axis=1), -1, 1)
