"""Figure 5: the bad episodes of training, as percentiles of episode cost."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure as Picture

from shapo.experiments.figures import drawing
from shapo.experiments.figures.figure import Arm, Figure, Result
from shapo.experiments.figures.tasks import ANT, WALKER2D, published
from shapo.experiments.style import PLAIN, SHAPO

PERCENTILES = {ANT.name: "cost/p95", WALKER2D.name: "cost/p80"}


def arms() -> list[Arm]:
    """PIDLag with and without SHAPO where an episode's cost is a fall."""
    return [
        Arm(label, published(task, "trpo-pid", gradient), look, panel=task.name)
        for task in (ANT, WALKER2D)
        for label, gradient, look in (("PIDLag", "plain", PLAIN), ("SHAPO-PIDLag", "shapo", SHAPO))
    ]


def draw(results: Sequence[Result]) -> Picture:
    """The percentile over training on top, the mean below."""
    panels = drawing.by_panel(results)
    picture, axes = plt.subplots(2, len(panels), figsize=(6.2, 3.8), squeeze=False, sharex="col")
    for column, (name, shown) in zip(axes.T, panels.items(), strict=True):
        column[0].set_title(name)
        for panel, quantity in zip(column, (PERCENTILES[name], "cost/episode"), strict=True):
            if drawing.empty(panel, shown):
                continue
            drawing.curves(panel, shown, quantity)
            panel.set_ylabel(drawing.LABELS[quantity])
        column[0].set_xlabel("")
    drawing.legend(picture, [("PIDLag", PLAIN), ("SHAPO-PIDLag", SHAPO)], lines=True)
    return picture


FIGURE = Figure("cost-tails", "Tails of the episode cost", "Figure 5", draw, arms)
