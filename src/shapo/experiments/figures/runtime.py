"""Table 1: what SHAPO costs in time."""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Picture

from shapo.experiments.figures.figure import Arm, Figure, Result
from shapo.experiments.figures.tasks import POINT_GOAL, published
from shapo.experiments.style import PLAIN, SHAPO
from shapo.experiments.table import Run


class Row(NamedTuple):
    """One line of the table: a name, then a number per arm."""

    name: str
    values: list[float]


def arms() -> list[Arm]:
    """PIDLag with and without SHAPO on PointGoal1."""
    return [
        Arm("PIDLag", published(POINT_GOAL, "trpo-pid", "plain"), PLAIN),
        Arm("SHAPO-PIDLag", published(POINT_GOAL, "trpo-pid", "shapo"), SHAPO),
    ]


def rows(results: Sequence[Result]) -> list[Row]:
    """Speed, time of an iteration, and the time that the whole training takes at that speed."""
    speed = [_mean([_speed(run) for run in runs]) for _, runs in results]
    asked = [arm.experiment for arm, _ in results]
    pairs = list(zip(asked, speed, strict=True))
    length = f"{POINT_GOAL.steps / 1e6:.0f}M steps"
    return [
        Row("environment steps per second", speed),
        Row("seconds per iteration", [e.batch_steps / s for e, s in pairs]),
        Row(f"minutes for {length}", [POINT_GOAL.steps / s / 60 for s in speed]),
    ]


def draw(results: Sequence[Result]) -> Picture:
    """The table, with the overhead of SHAPO in its last column."""
    picture, panel = plt.subplots(figsize=(5.2, 1.45))
    panel.axis("off")
    header = ["", *(arm.label for arm, _ in results), "ratio"]
    body = [
        [row.name, *(f"{value:.3g}" if value < 1e4 else f"{value:,.0f}" for value in row.values),
         f"{row.values[1] / row.values[0]:.2f}"]
        for row in rows(results)
    ]  # fmt: skip
    columns = (0.0, 0.62, 0.86, 1.0)
    for line, cells in enumerate([header, *body]):
        height = 0.9 - line * 0.24
        for x, cell in zip(columns, cells, strict=True):
            weight = "bold" if line == 0 else "normal"
            side = "left" if x == 0 else "right"
            panel.text(x, height, cell, ha=side, va="center", weight=weight)
    for height, width in ((1.04, 1.0), (0.78, 0.6), (0.06, 1.0)):
        panel.plot([0, 1], [height] * 2, color="black", lw=width, clip_on=False)
    panel.set(xlim=(0, 1), ylim=(0, 1.05))
    return picture


def _speed(run: Run) -> float:
    """Steps per second of a typical iteration: the first ones compile, so the median."""
    return float(np.nanmedian(run.values("time/steps_per_second")))


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


FIGURE = Figure("runtime", "What SHAPO costs in time", "Table 1", draw, arms)
