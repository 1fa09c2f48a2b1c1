"""The comparison as a picture: curves that end at the table's numbers, and return against cost rate."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from shapo.experiments import style
from shapo.experiments.comparison.numbers import RETURN, notes, of_costs, title, values
from shapo.experiments.curves import mean_curve
from shapo.experiments.groups import Group
from shapo.runs.history import FINAL_SHARE

SMOOTHED = "Curves are running means over a tenth of the steps, so they end at the table's numbers"


def save(arms: Sequence[Group], folder: Path, name: str = "comparison") -> list[Path]:
    """Write the picture as `name.png`, `.svg` and `.pdf`."""
    with style.house_style():
        return style.save(draw(arms), folder, name)


def draw(arms: Sequence[Group]) -> Figure:
    """Return and cost over the steps, and return against cost rate; a row for each cost."""
    matplotlib.use("agg")
    experiment = arms[0].experiment
    rows = len(experiment.cost_limit)
    figure, axes = plt.subplots(rows, 3, figsize=(9.0, 2.7 * rows + 0.5), squeeze=False)
    for row, (returns, costs, plane) in enumerate(axes):
        cost, rate, *_ = of_costs(experiment)[row]
        _draw_limits(costs, arms, row)
        for arm, look in zip(arms, style.LOOKS, strict=False):
            _draw_curve(returns, arm, look, RETURN.column)
            _draw_curve(costs, arm, look, cost.column)
            plane.plot(
                values(arm, rate), values(arm, RETURN), look.marker,
                color=look.colour, markersize=look.marker_size,
            )  # fmt: skip
        returns.set(xlabel="million steps", ylabel="episode return")
        costs.set(xlabel="million steps", ylabel=f"episode {cost.name}", ylim=(0, None))
        plane.set(xlabel=f"{rate.name} of the whole training", ylabel="final return")
        plane.locator_params(axis="x", nbins=4)
        plane.margins(0.15)
    figure.suptitle(title(arms))
    _legend(figure, arms)
    return figure


def _draw_curve(axes: Axes, arm: Group, look: style.Look, column: str) -> None:
    steps = arm.runs[0].history.values("steps")
    window = int(np.sum(steps > (1 - FINAL_SHARE) * steps[-1]))
    steps, mean, error = mean_curve(arm.runs, column, window)
    axes.plot(steps / 1e6, mean, color=look.colour, linestyle=look.line)
    if error.any():
        low, high = mean - error, mean + error
        axes.fill_between(steps / 1e6, low, high, color=look.colour, alpha=0.2, linewidth=0)


def _draw_limits(axes: Axes, arms: Sequence[Group], row: int) -> None:
    """One black line, or, where the arms' limits differ, each in its arm's colour."""
    limits = [arm.experiment.cost_limit[row] for arm in arms]
    colours = [look.colour for look in style.LOOKS]
    if len(set(limits)) == 1:
        limits, colours = limits[:1], [style.BLACK]
    for limit, colour in zip(limits, colours, strict=False):
        axes.axhline(limit, color=colour, linewidth=0.8, linestyle=":", zorder=1)


def _legend(figure: Figure, arms: Sequence[Group]) -> None:
    """Below the axes, where it can hide nothing, with what must be known of the curves above it."""
    several = max(len(arm.runs) for arm in arms) > 1
    bands = "; bands are standard errors over seeds." if several else "."
    handles = [
        Line2D(
            [], [], color=look.colour, linestyle=look.line, marker=look.marker,
            markersize=0.8 * look.marker_size, label=arm.label,
        )
        for arm, look in zip(arms, style.LOOKS, strict=False)
    ]  # fmt: skip
    limits = sorted({arm.experiment.cost_limit for arm in arms})
    shown = " or ".join(" and ".join(f"{each:g}" for each in limit) for limit in limits)
    handles.append(
        Line2D([], [], color=style.BLACK, linewidth=0.8, linestyle=":", label=f"cost limit {shown}")
    )
    about = figure.legend(
        handles=handles, loc="outside lower center", ncols=min(len(handles), 5),
        title="\n".join([SMOOTHED + bands, *notes(arms)]), title_fontsize=6,
    )  # fmt: skip
    about.get_title().set(color=style.GREY, multialignment="center")
