"""The paper's tasks and algorithms, and their published settings."""

from dataclasses import dataclass

from shapo.experiment import Experiment
from shapo.experiments.quantities import COST_RATE, TOTAL_COST, Quantity


@dataclass(frozen=True)
class Task:
    """A task of the paper, and how its cost is counted."""

    name: str
    env: str
    cost: Quantity


POINT_GOAL = Task("PointGoal1", "SafetyPointGoal1-v0", COST_RATE)
POINT_BUTTON = Task("PointButton1", "SafetyPointButton1-v0", COST_RATE)
ANT = Task("Ant", "Ant-v4", TOTAL_COST)
WALKER2D = Task("Walker2d", "Walker2d-v4", TOTAL_COST)
HALF_CHEETAH = Task("HalfCheetah", "HalfCheetah-v4", TOTAL_COST)

MAIN_TASKS = (POINT_GOAL, POINT_BUTTON, ANT, WALKER2D)
TASKS = {task.name: task for task in (*MAIN_TASKS, HALF_CHEETAH)}

ALGORITHM_NAMES = {
    "cpo": "CPO",
    "trpo-pid": "PIDLag",
    "crpo": "CRPO",
    "saute": "SauteRL",
}


def algorithms_on(task: Task) -> list[str]:
    """The baselines that the paper compares on a task; Sauté needs a budget above zero."""
    budget = Experiment(task.env).cost_limit[0]
    return [algo for algo in ALGORITHM_NAMES if algo != "saute" or budget > 0]


def published(task: Task, algo: str, gradient: str, **overrides) -> Experiment:
    """The paper's run of an algorithm on a task, with some choices made differently."""
    return Experiment(task.env, algo, gradient, **overrides)
