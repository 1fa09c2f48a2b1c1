"""Figures 4 and 11: the front of return and cost as PIDLag's first multiplier is varied."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure as Picture

from shapo.experiments.figures import drawing
from shapo.experiments.figures.figure import Arm, Figure, Result
from shapo.experiments.figures.tasks import POINT_GOAL, published
from shapo.experiments.statistics import hypervolume
from shapo.experiments.style import ALPHA, PLAIN, SHAPO, Look

MULTIPLIERS = (0.001, 1.0, 3.0, 10.0, 30.0)
"""The paper does not say which it used. The first update alone adds about 0.6 on this task, so anything below 1 is the
default again; and the integral falls by at most 0.1 per update, so a first value of 30 is felt for most of a run."""


def lambda_arms() -> list[Arm]:
    """PIDLag with and without SHAPO over the first multiplier."""
    return _varied("plain", PLAIN, gradient="plain") + _varied("SHAPO", SHAPO, gradient="shapo")


def schedule_arms() -> list[Arm]:
    """Likewise, and with SHAPO's tail probability held fixed instead of its radius."""
    fixed_alpha = _varied(r"SHAPO, fixed α", ALPHA, gradient="shapo", schedule="alpha")
    fixed_radius = _varied(r"SHAPO, fixed δ", SHAPO, gradient="shapo")
    return _varied("plain", PLAIN, gradient="plain") + fixed_radius + fixed_alpha


def _varied(label: str, look: Look, gradient, **overrides) -> list[Arm]:
    return [
        Arm(
            label=label,
            experiment=published(
                POINT_GOAL, "trpo-pid", gradient, multiplier_init=first, **overrides
            ),
            look=look,
            tag=f"{first:g}",
        )
        for first in MULTIPLIERS
    ]


def draw(results: Sequence[Result]) -> Picture:
    """Points labelled by the first multiplier, and each method's front with its hypervolume."""
    picture, panel = plt.subplots(figsize=(4.2, 3.2))
    scores = drawing.scatter(panel, results, POINT_GOAL.cost)
    known = [point for point in scores if point is not None]
    worst = drawing.Score(min(p.reward for p in known), 0, max(p.cost for p in known), 0)
    entries = []
    for label in dict.fromkeys(result.arm.label for result in results):
        look = next(result.arm.look for result in results if result.arm.label == label)
        own = [
            point
            for result, point in zip(results, scores, strict=True)
            if result.arm.label == label and point is not None
        ]
        if not own:
            continue
        drawing.front(panel, own, worst, look)
        rewards, costs = [p.reward for p in own], [p.cost for p in own]
        volume = hypervolume(rewards, costs, worst.reward, worst.cost)
        entries.append((f"{label} (hypervolume {volume:.3g})", look))
    panel.set_title(f"PIDLag on {POINT_GOAL.name}, labelled by first multiplier")
    drawing.legend(picture, entries, columns=1)
    return picture


LAMBDA = Figure("lambda-front", "Front over the first multiplier", "Figure 4", draw, lambda_arms)
SCHEDULES = Figure(
    "schedules-front",
    "Fronts of the two schedules",
    "Figure 11",
    draw,
    schedule_arms,
)
