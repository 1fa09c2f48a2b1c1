"""Figure 7: where sharpness-awareness helps, in the actor, in the critics, or in both."""

from collections.abc import Sequence

from matplotlib.figure import Figure as Picture

from shapo.experiments.figures import drawing
from shapo.experiments.figures.figure import Arm, Figure, Result
from shapo.experiments.figures.tasks import POINT_BUTTON, POINT_GOAL, published
from shapo.experiments.style import BLUE, GREEN, PLAIN, SHAPO, Look

PARTS = (
    ("vanilla", "plain", "plain", PLAIN),
    ("SAM critics", "plain", "sam", Look(BLUE, "s")),
    ("SHAPO actor", "shapo", "plain", Look(GREEN, "^")),
    ("SHAPO (both)", "shapo", "sam", SHAPO),
)


def arms() -> list[Arm]:
    """PIDLag with each part switched on alone and together."""
    return [
        Arm(
            label=label,
            experiment=published(task, "trpo-pid", gradient, critic_gradient=critic),
            look=look,
            panel=task.name,
        )
        for task in (POINT_GOAL, POINT_BUTTON)
        for label, gradient, critic, look in PARTS
    ]


def draw(results: Sequence[Result]) -> Picture:
    """A panel per task, a point per combination."""
    picture, _ = drawing.task_row(results)
    drawing.legend(picture, [(label, look) for label, _, _, look in PARTS])
    return picture


FIGURE = Figure("actor-critic", "Actor, critics or both", "Figure 7", draw, arms)
