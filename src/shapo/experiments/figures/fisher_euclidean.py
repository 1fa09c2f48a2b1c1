"""Figure 6: the worst policy nearby (SHAPO) against the worst parameters nearby (E-SAM)."""

from collections.abc import Sequence

from matplotlib.figure import Figure as Picture

from shapo.experiments.figures import drawing
from shapo.experiments.figures.figure import Arm, Figure, Result
from shapo.experiments.figures.tasks import MAIN_TASKS, published
from shapo.experiments.style import PLAIN, SAM, SHAPO

RULES = (
    ("vanilla", "plain", "plain", PLAIN),
    ("E-SAM", "sam", "sam", SAM),
    ("SHAPO", "shapo", "sam", SHAPO),
)


def arms() -> list[Arm]:
    """PIDLag with each gradient rule; E-SAM and SHAPO share the critics, so only the ball differs."""
    return [
        Arm(
            label=label,
            experiment=published(task, "trpo-pid", actor, critic_gradient=critic),
            look=look,
            panel=task.name,
        )
        for task in MAIN_TASKS
        for label, actor, critic, look in RULES
    ]


def draw(results: Sequence[Result]) -> Picture:
    """A panel per task, a point per rule."""
    picture, _ = drawing.task_row(results)
    drawing.legend(picture, [(label, look) for label, _, _, look in RULES])
    return picture


FIGURE = Figure("fisher-euclidean", "Fisher against Euclidean balls", "Figure 6", draw, arms)
