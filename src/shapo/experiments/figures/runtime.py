"""Table 1: what SHAPO costs in time."""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Picture

from shapo.experiments.figures.figure import Arm, Figure, Result
from shapo.experiments.figures.tasks import POINT_GOAL, published
from shapo.experiments.style import PLAIN, SHAPO, steps_text
from shapo.runs.reading import Run


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
    """The paper's two lines, and the speed they rest on."""
    speed = [_typical(runs, "time/steps_per_second") for _, runs in results]
    actor = [_typical(runs, "time/actor") for _, runs in results]
    critics = [_typical(runs, "time/critics") for _, runs in results]
    return [
        Row(f"total, minutes for {steps_text(POINT_GOAL.steps)} steps", _minutes(speed)),
        Row("update, seconds per iteration", [a + c for a, c in zip(actor, critics, strict=True)]),
        Row("    of the actor", actor),
        Row("    of the critics", critics),
        Row("environment steps per second", speed),
    ]


def draw(results: Sequence[Result]) -> Picture:
    """The table, with the overhead of SHAPO in its last column."""
    picture, panel = plt.subplots(figsize=(5.2, 1.9))
    panel.axis("off")
    header = ["", *(arm.label for arm, _ in results), "ratio"]
    body = [
        [row.name, *(_text(value) for value in row.values),
         f"{row.values[1] / row.values[0]:.2f}"]
        for row in rows(results)
    ]  # fmt: skip
    columns = (0.0, 0.62, 0.86, 1.0)
    for line, cells in enumerate([header, *body]):
        height = 0.93 - line * 0.165
        for x, cell in zip(columns, cells, strict=True):
            weight = "bold" if line == 0 else "normal"
            side = "left" if x == 0 else "right"
            panel.text(x, height, cell, ha=side, va="center", weight=weight)
    for height, width in ((1.03, 1.0), (0.85, 0.6), (0.0, 1.0)):
        panel.plot([0, 1], [height] * 2, color="black", lw=width, clip_on=False)
    panel.set(xlim=(0, 1), ylim=(0, 1.05))
    return picture


def _text(value: float) -> str:
    return f"{value:.3g}" if value < 100 else f"{value:,.0f}"


def _minutes(speed: Sequence[float]) -> list[float]:
    return [POINT_GOAL.steps / steps_per_second / 60 for steps_per_second in speed]


def _typical(runs: Sequence[Run], column: str) -> float:
    """The column's median over iterations, for the first ones compile; then the mean over runs."""
    recorded = [run.values(column) for run in runs]
    medians = [np.nanmedian(values) for values in recorded if not np.isnan(values).all()]
    return float(np.mean(medians)) if medians else float("nan")


FIGURE = Figure("runtime", "What SHAPO costs in time", "Table 1", draw, arms)
