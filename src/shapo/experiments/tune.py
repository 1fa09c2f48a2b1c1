"""The paper's search for SHAPO's two numbers: a small grid around a base that is left as it is.

Neither return nor cost alone says which point of the grid is good, so the choice is made on the front of those that no
other beats in both: the one that beats the largest area of the (cost rate, return) plane by itself. That favours the
knee of the front over its ends, and does not depend on the units of either axis.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from shapo.experiment import Experiment
from shapo.experiments.counting import LeftOut, counted
from shapo.experiments.quantities import COST_RATE, RETURN
from shapo.experiments.statistics import hypervolume, pareto_front, standard_error
from shapo.runs.folder import Run
from shapo.words import BadInput

PESSIMISM = (1e-5, 1e-3)
"""Both ends of the paper's range of delta_down, per action dimension."""
RHO_CRITIC = (0.005, 0.01, 0.05)
"""The paper's radii of the critics."""


class GridPoint(NamedTuple):
    """One point of the grid, over its seeds."""

    experiment: Experiment
    seeds: int
    reward: float
    """Mean final return."""
    reward_error: float
    cost_rate: float
    """Mean cost per step over the whole training: what learning has cost."""
    cost_error: float


class Tuning(NamedTuple):
    """What a search has found."""

    candidates: list[GridPoint]
    base: GridPoint | None
    """The algorithm without SHAPO, for comparison."""
    front: list[GridPoint]
    """Those that no other beats in both return and cost, by rising cost."""
    choice: GridPoint
    share: float
    """Of the area that the whole front beats, the part that the choice beats by itself."""
    left_out: list[LeftOut]

    @property
    def no_worse_without(self) -> list[str]:
        """In which of the two numbers the algorithm without SHAPO is no worse than the choice."""
        if self.base is None:
            return []
        of_return = ["return"] if self.base.reward >= self.choice.reward else []
        return of_return + (["cost rate"] if self.base.cost_rate <= self.choice.cost_rate else [])


def grid(choices: dict[str, Any], points: int, seeds: int) -> list[Experiment]:
    """The base without SHAPO, and with it at every point of the grid."""
    if points < 1 or seeds < 1:
        raise BadInput(f"{points} points and {seeds} seeds; at least one of each is needed")
    low, high = PESSIMISM
    middle = float(np.sqrt(low * high))
    radii = np.geomspace(low, high, points).tolist() if points > 1 else [middle]
    base = Experiment(**choices)
    with_shapo = Experiment(**choices, gradient="shapo")
    if "pessimism" in with_shapo.idle():
        raise BadInput(
            f"schedule is {with_shapo.schedule!r}, where pessimism, which is searched, does nothing; leave it away, or "
            "search its own number with shapo sweep"
        )
    configurations = [base] + [
        # 1e-4 should be called 1e-4, not 0.00010000000000000009.
        with_shapo.replace(pessimism=float(f"{radius:.6g}"), rho_critic=rho)
        for radius in radii
        for rho in RHO_CRITIC
    ]
    return [each.replace(seed=seed) for each in configurations for seed in range(seeds)]


def weigh(wanted: Sequence[Experiment], runs: Sequence[Run]) -> Tuning:
    """Choose among the finished runs of the grid; a seed counts once."""
    by_point: dict[Experiment, list[Run]] = {each.essence("seed"): [] for each in wanted}
    for run in runs:
        point = run.experiment.essence("seed")
        if run.finished and point in by_point:
            by_point[point].append(run)
    groups = {point: counted(own) for point, own in by_point.items() if own}
    found = [_grid_point(point, group.runs) for point, group in groups.items()]
    left_out = [out for group in groups.values() for out in group.left_out]
    measured = [each for each in found if np.isfinite([each.reward, each.cost_rate]).all()]
    candidates = [each for each in measured if each.experiment.gradient == "shapo"]
    if not candidates:
        raise BadInput("no run of the grid has finished an episode; give them more steps")
    worst_return = min(each.reward for each in measured)
    worst_cost = max(each.cost_rate for each in measured)
    rewards = [each.reward for each in candidates]
    costs = [each.cost_rate for each in candidates]
    front = [candidates[i] for i in pareto_front(rewards, costs)]
    areas = [
        hypervolume([each.reward], [each.cost_rate], worst_return, worst_cost) for each in front
    ]
    total = hypervolume(rewards, costs, worst_return, worst_cost)
    best = int(np.argmax(areas))
    base = next((each for each in measured if each.experiment.gradient == "plain"), None)
    share = areas[best] / total if total else 1.0
    return Tuning(candidates, base, front, front[best], share, left_out)


def _grid_point(point: Experiment, runs: Sequence[Run]) -> GridPoint:
    rewards, costs = ([quantity.of(run) for run in runs] for quantity in (RETURN, COST_RATE))
    errors = [
        standard_error(values) if np.isfinite(values).all() else float("nan")
        for values in (rewards, costs)
    ]
    return GridPoint(
        point, len(runs), float(np.mean(rewards)), errors[0], float(np.mean(costs)), errors[1]
    )
