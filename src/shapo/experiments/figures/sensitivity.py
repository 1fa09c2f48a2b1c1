"""Figure 9: how much SHAPO's two settings matter."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure as Picture

from shapo.experiments.figures import drawing
from shapo.experiments.figures.figure import Arm, Figure, Result
from shapo.experiments.figures.tasks import POINT_GOAL, published
from shapo.experiments.style import PLAIN, SHAPO

VALUES = {
    "pessimism": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2),
    "rho_critic": (0.001, 0.005, 0.01, 0.05, 0.2),
}
AXIS_LABELS = {"pessimism": r"$\delta_{down}$", "rho_critic": r"$\rho_{critic}$"}
PLAIN_ARM = "plain"


def arms() -> list[Arm]:
    """PIDLag, then SHAPO with one setting varied and the other as published."""
    varied = [
        Arm(
            label="SHAPO",
            experiment=published(POINT_GOAL, "trpo-pid", "shapo", **{setting: value}),
            look=SHAPO,
            panel=setting,
        )
        for setting, values in VALUES.items()
        for value in values
    ]
    return [
        Arm("plain", published(POINT_GOAL, "trpo-pid", "plain"), PLAIN, panel=PLAIN_ARM),
        *varied,
    ]


def draw(results: Sequence[Result]) -> Picture:
    """Return (top) and cost rate (bottom) over each setting; the grey band is PIDLag without."""
    panels = drawing.by_panel(results)
    plain = drawing.score(panels.pop(PLAIN_ARM)[0], POINT_GOAL.cost)
    picture, axes = plt.subplots(2, 2, figsize=(6, 3.9), sharex="col", sharey="row")
    for column, (setting, shown) in zip(axes.T, panels.items(), strict=True):
        scores = [drawing.score(result, POINT_GOAL.cost) for result in shown]
        points = [
            (getattr(arm.experiment, setting), score)
            for (arm, *_), score in zip(shown, scores, strict=True)
            if score is not None
        ]
        for panel, quantity in zip(column, ("reward", "cost"), strict=True):
            if plain is not None:
                middle, error = getattr(plain, quantity), getattr(plain, f"{quantity}_error")
                panel.axhline(middle, color=PLAIN.colour, linestyle=PLAIN.line, lw=1)
                panel.axhspan(middle - error, middle + error, color=PLAIN.colour, alpha=0.15, lw=0)
            panel.errorbar(
                [value for value, _ in points],
                [getattr(score, quantity) for _, score in points],
                [getattr(score, f"{quantity}_error") for _, score in points],
                color=SHAPO.colour,
                marker=SHAPO.marker,
                markersize=9,
                markeredgecolor="white",
                capsize=2,
            )
            # The whole range, whatever was run of it.
            panel.set(xscale="log", xlim=(VALUES[setting][0] / 2, VALUES[setting][-1] * 2))
        column[1].set_xlabel(AXIS_LABELS[setting])
    axes[0, 0].set_ylabel("return")
    axes[1, 0].set_ylabel("cost rate")
    drawing.legend(picture, [("PIDLag", PLAIN), ("SHAPO-PIDLag", SHAPO)], lines=True)
    return picture


FIGURE = Figure(
    "sensitivity",
    "Sensitivity to SHAPO's settings",
    "Figure 9",
    draw,
    arms,
    errors="bars, shaded: ± 1 standard error",
)
