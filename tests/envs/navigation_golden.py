"""Transitions recorded from Safety-Gymnasium 1.0.0 (MuJoCo 2.3.3), and the states of ours that they start from."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from shapo.envs import navigation

DIRECTORY = Path(__file__).parents[1] / "golden"
IDS = ("SafetyPointGoal1-v0", "SafetyPointButton1-v0")


class Golden(NamedTuple):
    rows: dict[str, np.ndarray]
    layouts: list[dict]
    """One per seed: places by name, turn of the robot, goal, first observation."""


def load(id: str) -> Golden:
    with np.load(DIRECTORY / f"golden_{id}.npz") as file:
        rows = {name: file[name] for name in file.files if name not in ("layouts", "meta")}
        return Golden(rows, json.loads(str(file["layouts"])))


def names(task: navigation.Task) -> list[str]:
    """What the original calls the objects, in our order."""
    return ["agent"] + [
        group.kind if group.kind == "goal" else f"{group.kind}{k}"
        for group in task.objects
        for k in range(group.count)
    ]


def states(id: str, golden: Golden) -> dict[str, np.ndarray]:
    """Our state before each recorded transition."""
    rows, task = golden.rows, navigation.TASKS[id]
    n = len(rows["seed"])
    env = navigation.make(id, n)
    state, rules = env.get_state(), env.rules
    layouts = {layout["seed"]: layout["layout"] for layout in golden.layouts}
    # Rows of a seed follow each other, so the first one of a seed has the bodies where they started.
    first = {seed: int(np.argmax(rows["seed"] == seed)) for seed in layouts}
    for i, seed in enumerate(rows["seed"]):
        state["spots"][i] = [layouts[int(seed)][name] for name in names(task)]
        quaternions = rows["qfree"][first[int(seed)]].reshape(-1, 7)[:, 3:]
        bodies = slice(rules.first_body, rules.first_body + rules.num_bodies)
        state["turns"][i, bodies] = 2 * np.arctan2(quaternions[:, 3], quaternions[:, 0])
        state["body_start"][i] = state["spots"][i, bodies]
    state["spots"][:, 0] = rows["pose"][:, :2]
    state["spots"][:, rules.goal] = rows["goal"]
    state["robot_q"], state["robot_v"] = rows["pose"], rows["vel"]
    state["body_q"] = rows["qfree"].reshape(n, -1, 7)
    state["body_v"] = rows["vfree"].reshape(n, -1, 6)
    state["status"][:] = 1  # loose: MuJoCo decides
    state["steps"] = np.rint(rows["time"] / 0.02).astype(np.int64)
    state["timer"], state["goal_button"] = rows["timer"], rows["gbtn"]
    state["last_goal"] = rows["last_dist"]
    return state
