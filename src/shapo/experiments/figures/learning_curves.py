"""Figures 14 to 17: return and cost over training of every baseline, one figure per task."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure as Picture

from shapo.experiments.figures import drawing
from shapo.experiments.figures.figure import Arm, Figure, Result
from shapo.experiments.figures.tasks import (
    ALGORITHM_NAMES,
    MAIN_TASKS,
    Task,
    algorithms_on,
    published,
)
from shapo.experiments.style import PLAIN, SHAPO


def arms(task: Task) -> list[Arm]:
    """The task's baselines with and without SHAPO."""
    return [
        Arm(label, published(task, algo, gradient), look, panel=ALGORITHM_NAMES[algo])
        for algo in algorithms_on(task)
        for label, gradient, look in (("plain", "plain", PLAIN), ("SHAPO", "shapo", SHAPO))
    ]


def draw(results: Sequence[Result]) -> Picture:
    """A column per baseline: return above, episode cost with its limit below."""
    panels = drawing.by_panel(results)
    picture, axes = plt.subplots(
        2, len(panels), figsize=(2 * len(panels), 3.4), squeeze=False, sharex="col", sharey="row"
    )
    labelled = False
    for column, (name, shown) in zip(axes.T, panels.items(), strict=True):
        column[0].set_title(name)
        blank = [drawing.empty(panel, shown) for panel in column]
        if any(blank):
            continue
        drawing.curves(column[0], shown, "reward/episode")
        drawing.curves(column[1], shown, "cost/episode")
        drawing.limit_line(column[1], shown)
        for panel in column:
            panel.label_outer()
            # The shared scale is written once, at the first column that has something to show.
            panel.tick_params(labelleft=not labelled)
        labelled = True
    axes[0, 0].set_ylabel(drawing.LABELS["reward/episode"])
    axes[1, 0].set_ylabel(drawing.LABELS["cost/episode"])
    drawing.legend(picture, [("plain", PLAIN), ("SHAPO", SHAPO)], lines=True)
    return picture


def _figure(task: Task, number: int) -> Figure:
    return Figure(
        name=f"curves-{task.name.lower()}",
        title=f"Learning curves on {task.name}",
        item=f"Figure {number}",
        draw=draw,
        arms=lambda: arms(task),
    )


FIGURES = [_figure(task, number) for number, task in enumerate(MAIN_TASKS, start=14)]
