"""Figure 3: return against cost of four baselines on four tasks, with and without SHAPO."""

from collections.abc import Sequence

from matplotlib.figure import Figure as Picture

from shapo.experiments.figures import drawing
from shapo.experiments.figures.figure import Arm, Figure, Result
from shapo.experiments.figures.tasks import (
    ALGORITHM_NAMES,
    MAIN_TASKS,
    algorithms_on,
    published,
)
from shapo.experiments.style import ALGORITHM_COLOURS, PLAIN, SHAPO, Look


def arms() -> list[Arm]:
    """Each baseline, then the same with SHAPO, task by task."""
    return [
        Arm(
            label=f"{ALGORITHM_NAMES[algo]} {gradient}",
            experiment=published(task, algo, gradient),
            look=Look(ALGORITHM_COLOURS[algo], marker),
            panel=task.name,
            tag=ALGORITHM_NAMES[algo] if gradient == "plain" else "",
        )
        for task in MAIN_TASKS
        for algo in algorithms_on(task)
        for gradient, marker in (("plain", PLAIN.marker), ("shapo", SHAPO.marker))
    ]


def draw(results: Sequence[Result]) -> Picture:
    """A panel per task; an arrow leads from each baseline to its SHAPO version."""
    picture, points = drawing.task_row(results)
    for panel, scores in points.items():
        for before, after in zip(scores[::2], scores[1::2], strict=True):
            drawing.arrow(panel, before, after)
    entries = [
        ("plain", Look("#444444", PLAIN.marker)),
        ("SHAPO", Look("#444444", SHAPO.marker)),
    ]
    colours = [(ALGORITHM_NAMES[a], Look(c, "s")) for a, c in ALGORITHM_COLOURS.items()]
    drawing.legend(picture, entries + colours)
    return picture


FIGURE = Figure("main", "Safety and efficiency on four tasks", "Figure 3", draw, arms)
