"""Table 1: what SHAPO costs in time."""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Picture

from shapo.experiments.figures.figure import Arm, Figure, Result
from shapo.experiments.figures.tasks import POINT_GOAL, published
from shapo.experiments.style import PLAIN, SHAPO
from shapo.runs.folder import Run
from shapo.words import number_text, steps_text


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
    """The paper's two lines, and what they are made of: all of a typical iteration, so that they agree.

    The clock of a whole training also counts what is not SHAPO's: compiling, standing still, another program's turn.
    """
    steps = max(run.history.steps for result in results for run in result.runs)
    speed, actor, critics = (
        [_typical(own, f"time/{column}") for _, own, _ in results]
        for column in ("steps_per_second", "actor", "critics")
    )
    return [
        Row(f"total, minutes for {steps_text(steps)} steps", [steps / each / 60 for each in speed]),
        Row("update, seconds per iteration", [a + c for a, c in zip(actor, critics, strict=True)]),
        Row("    of the actor", actor),
        Row("    of the critics", critics),
        Row("environment steps per second", speed),
    ]


def draw(results: Sequence[Result]) -> Picture:
    """The table, with the overhead of SHAPO in its last column."""
    picture, panel = plt.subplots(figsize=(5.2, 2.1))
    panel.axis("off")
    measured = rows(results)
    header = ["", *(arm.label for arm, *_ in results), "ratio"]
    body = [
        [row.name, *(_text(value) for value in row.values), _text(row.values[1] / row.values[0])]
        for row in measured
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
    panel.text(0, -0.03, "\n".join(_notes(measured)), va="top", fontsize=6, color="#707070")
    panel.set(xlim=(0, 1), ylim=(0, 1.05))
    return picture


def _notes(measured: Sequence[Row]) -> list[str]:
    """How far the numbers can be trusted, and why some are not there."""
    notes = [
        "of a median iteration, and the median seed; the total is so many, without compiling",
        "runs may have shared the machine with others",
    ]
    if any(np.isnan(row.values).all() for row in measured):
        notes.append("–: not recorded in these runs; archives do not keep the time of an update")
    return notes


def _text(value: float) -> str:
    return "–" if np.isnan(value) else number_text(value)


def _typical(runs: Sequence[Run], column: str) -> float:
    """The column's median over iterations, for the first ones compile; then that over runs."""
    recorded = [run.history.values(column) for run in runs]
    return _median([np.nanmedian(values) for values in recorded if not np.isnan(values).all()])


def _median(values: Sequence[float]) -> float:
    return float(np.median(values)) if values else float("nan")


FIGURE = Figure("runtime", "What SHAPO costs in time", "Table 1", draw, arms, errors="")
