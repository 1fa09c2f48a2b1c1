"""Figure 13: SHAPO without constraints, on PPO."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure as Picture

from shapo.experiments.figures import drawing
from shapo.experiments.figures.figure import Arm, Figure, Result
from shapo.experiments.figures.tasks import ANT, HALF_CHEETAH, WALKER2D, published
from shapo.experiments.style import PLAIN, SHAPO

QUANTITIES = ("reward/episode", "termination/rate", "termination/total")


def arms() -> list[Arm]:
    """PPO with and without SHAPO on three locomotion tasks."""
    return [
        Arm(label, published(task, "ppo", gradient), look, panel=task.name)
        for task in (ANT, WALKER2D, HALF_CHEETAH)
        for label, gradient, look in (("PPO", "plain", PLAIN), ("SHAPO-PPO", "shapo", SHAPO))
    ]


def draw(results: Sequence[Result]) -> Picture:
    """A column per task: return, rate of falls, falls in all."""
    panels = drawing.by_panel(results)
    shape = (len(QUANTITIES), len(panels))
    picture, axes = plt.subplots(*shape, figsize=(7, 5), squeeze=False, sharex="col")
    for column, (name, shown) in zip(axes.T, panels.items(), strict=True):
        column[0].set_title(name)
        for panel, quantity in zip(column, QUANTITIES, strict=True):
            if not drawing.empty(panel, shown):
                drawing.curves(panel, shown, quantity)
    for panel in axes[:-1].flat:
        panel.set_xlabel("")
    for panel, quantity in zip(axes[:, 0], QUANTITIES, strict=True):
        panel.set_ylabel(drawing.LABELS[quantity])
    drawing.legend(picture, [("PPO", PLAIN), ("SHAPO-PPO", SHAPO)], lines=True)
    return picture


FIGURE = Figure("unconstrained", "PPO without constraints", "Figure 13", draw, arms)
