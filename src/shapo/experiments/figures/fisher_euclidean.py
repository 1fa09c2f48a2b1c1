"""Figure 6: the worst policy nearby (SHAPO) against the worst parameters nearby (E-SAM)."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure as Picture

from shapo.experiments.figures import drawing
from shapo.experiments.figures.figure import Arm, Figure, Result
from shapo.experiments.figures.tasks import MAIN_TASKS, TASKS, published
from shapo.experiments.style import PLAIN, SAM, SHAPO

RULES = (("vanilla", "plain", PLAIN), ("E-SAM", "sam", SAM), ("SHAPO", "shapo", SHAPO))


def arms() -> list[Arm]:
    """PIDLag with each of the three gradient rules, on the four tasks."""
    return [
        Arm(label, published(task, "trpo-pid", gradient), look, panel=task.name)
        for task in MAIN_TASKS
        for label, gradient, look in RULES
    ]


def draw(results: Sequence[Result]) -> Picture:
    """A panel per task, a point per rule."""
    panels = drawing.by_panel(results)
    picture, axes = plt.subplots(1, len(panels), figsize=(2.3 * len(panels), 2.6), squeeze=False)
    for panel, (name, shown) in zip(axes[0], panels.items(), strict=True):
        panel.set_title(name)
        if not drawing.empty(panel, shown):
            drawing.scatter(panel, shown, TASKS[name].cost_column)
    drawing.legend(picture, [(label, look) for label, _, look in RULES])
    return picture


FIGURE = Figure("fisher-euclidean", "Fisher against Euclidean balls", "Figure 6", draw, arms)
