"""Figures 6 and 7: the gradient rule of the actor and of the critics, side by side."""

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.figure import Figure as Picture

from shapo.experiments.figures import drawing
from shapo.experiments.figures.figure import Arm, Figure, Result
from shapo.experiments.figures.tasks import MAIN_TASKS, POINT_BUTTON, POINT_GOAL, Task, published
from shapo.experiments.style import BLUE, GREEN, PLAIN, SAM, SHAPO, Look


class Rules(NamedTuple):
    """Where actor and critics measure their slope."""

    label: str
    actor: str
    critic: str
    look: Look


# E-SAM and SHAPO share the critics, so only the ball differs.
BALLS = (
    Rules("plain", "plain", "plain", PLAIN),
    Rules("E-SAM", "sam", "sam", SAM),
    Rules("SHAPO", "shapo", "sam", SHAPO),
)
PARTS = (
    Rules("plain", "plain", "plain", PLAIN),
    Rules("SAM critics", "plain", "sam", Look(BLUE, "s")),
    Rules("SHAPO actor", "shapo", "plain", Look(GREEN, "^")),
    Rules("SHAPO (both)", "shapo", "sam", SHAPO),
)


def _side_by_side(
    name: str, title: str, item: str, compared: Sequence[Rules], tasks: Sequence[Task]
) -> Figure:
    """PIDLag under each pair of rules: a panel per task, a point per pair."""

    def arms() -> list[Arm]:
        return [
            Arm(
                label=rules.label,
                experiment=published(task, "trpo-pid", rules.actor, critic_gradient=rules.critic),
                look=rules.look,
                panel=task.name,
            )
            for task in tasks
            for rules in compared
        ]

    def draw(results: Sequence[Result]) -> Picture:
        picture, _ = drawing.task_row(results)
        entries = [(rules.label, rules.look) for rules in compared]
        drawing.legend(picture, drawing.there(results, entries))
        return picture

    return Figure(name, title, item, draw, arms)


FISHER_EUCLIDEAN = _side_by_side(
    "fisher-euclidean", "Fisher against Euclidean balls", "Figure 6", BALLS, MAIN_TASKS
)
ACTOR_CRITIC = _side_by_side(
    "actor-critic", "Actor, critics or both", "Figure 7", PARTS, (POINT_GOAL, POINT_BUTTON)
)
