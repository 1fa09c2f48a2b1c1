"""The few kinds of drawing all figures are made of: points with errors, fronts and curves."""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, MaxNLocator

from shapo.experiments.curves import mean_curve
from shapo.experiments.figures.figure import Result
from shapo.experiments.figures.tasks import POINT_GOAL, TASKS
from shapo.experiments.quantities import RETURN, TOTAL_COST, Quantity
from shapo.experiments.statistics import pareto_front, standard_error
from shapo.experiments.style import FAINT, Look
from shapo.words import steps_text

LABELS = {
    "reward/episode": "return",
    "cost/episode": "cost per episode",
    "cost/p80": "cost, 80th percentile",
    "cost/p95": "cost, 95th percentile",
    "termination/rate": "share of episodes with a fall",
    "termination/total": "total terminations",
}


class Score(NamedTuple):
    """An arm's return and cost over its seeds."""

    reward: float
    reward_error: float
    cost: float
    cost_error: float


def score(result: Result, cost: Quantity) -> Score | None:
    """Mean and standard error of final return and accumulated cost; None without runs."""
    rewards = np.array([RETURN.of(run) for run in result.runs])
    costs = np.array([cost.of(run) for run in result.runs])
    usable = np.isfinite(rewards) & np.isfinite(costs)
    if not usable.any():
        return None
    rewards, costs = rewards[usable], costs[usable]
    errors = np.nan_to_num([standard_error(rewards), standard_error(costs)])
    return Score(float(rewards.mean()), errors[0], float(costs.mean()), errors[1])


def scatter(axes: Axes, results: Sequence[Result], cost: Quantity) -> list[Score | None]:
    """A point per arm, return against cost, in an ellipse of one standard error."""
    scores = [score(result, cost) for result in results]
    for (arm, *_), point in zip(results, scores, strict=True):
        if point is None:
            continue
        axes.add_patch(
            Ellipse(
                (point.cost, point.reward),
                2 * point.cost_error,
                2 * point.reward_error,
                facecolor=arm.look.colour,
                edgecolor="none",
                alpha=0.22,
                zorder=2,
            )
        )
        axes.plot(point.cost, point.reward, zorder=4, **_marker(arm.look))
        if arm.tag:
            axes.annotate(
                arm.tag,
                (point.cost, point.reward),
                textcoords="offset points",
                xytext=arm.look.tag_offset,
                ha="left" if arm.look.tag_offset[0] > 0 else "right",
                fontsize=6.5,
                color=arm.look.ink,  # whose name it is, also where another point is nearer
                zorder=5,
                path_effects=[withStroke(linewidth=1.5, foreground="white")],
            )
    axes.set_xlabel(cost.name)
    axes.set_ylabel(RETURN.name)
    axes.margins(0.16)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    if cost == TOTAL_COST:
        count_ticks(axes)
    return scores


def settings(results: Sequence[Result], looks: Sequence[tuple[str, Look]]) -> Picture:
    """Return against cost of PIDLag on PointGoal1, a point per setting of a few methods."""
    picture, panel = plt.subplots(figsize=(4, 3.1))
    scatter(panel, results, POINT_GOAL.cost)
    panel.set_title(f"PIDLag on {POINT_GOAL.name}")
    legend(picture, there(results, looks))
    return picture


def task_row(results: Sequence[Result]) -> tuple[Picture, dict[Axes, list[Score | None]]]:
    """A row of scatters, one per task; returns the picture and the points of each panel."""
    panels = by_panel(results)
    picture, axes = plt.subplots(1, len(panels), figsize=(2.25 * len(panels), 2.6), squeeze=False)
    points = {}
    for panel, (name, shown) in zip(axes[0], panels.items(), strict=True):
        panel.set_title(name)
        if not empty(panel, shown):
            points[panel] = scatter(panel, shown, TASKS[name].cost)
        if panel is not axes[0, 0]:
            panel.set_ylabel("")
    return picture, points


def arrow(axes: Axes, before: Score | None, after: Score | None) -> None:
    """A faint arrow from one point to another, if both exist."""
    if before is None or after is None:
        return
    axes.annotate(
        "",
        (after.cost, after.reward),
        (before.cost, before.reward),
        arrowprops={"arrowstyle": "-|>", "color": "#9A9A9A", "lw": 0.8, "shrinkA": 5, "shrinkB": 6},
        zorder=3,
    )


def front(axes: Axes, points: Sequence[Score], worst: Score, look: Look) -> None:
    """The edge of what the points beat, out to the worst return and cost of all."""
    rewards, costs = np.array([p.reward for p in points]), np.array([p.cost for p in points])
    edge = pareto_front(rewards, costs)
    x = [costs[edge[0]], *costs[edge], worst.cost]
    y = [worst.reward, *rewards[edge], rewards[edge[-1]]]
    axes.step(x, y, where="post", color=look.colour, linestyle=look.line, lw=1, zorder=1.5)


def curves(axes: Axes, results: Sequence[Result], column: str) -> None:
    """A line per arm over training, in a band of one standard error."""
    for arm, runs, _ in results:
        steps, middle, error = mean_curve(runs, column)
        if not len(steps):
            continue
        axes.plot(steps, middle, color=arm.look.colour, linestyle=arm.look.line, label=arm.label)
        axes.fill_between(
            steps, middle - error, middle + error, color=arm.look.colour, alpha=0.18, lw=0
        )
    steps_axis(axes)


def limit_line(axes: Axes, results: Sequence[Result]) -> None:
    """The cost limit, as a thin line."""
    limits = {result.arm.experiment.cost_limit[0] for result in results}
    for limit in limits:
        axes.axhline(limit, color="#222222", lw=0.7, linestyle=(0, (1, 2)), zorder=1)


def steps_axis(axes: Axes) -> None:
    """Make the horizontal axis one of environment steps from the beginning of training."""
    count_ticks(axes)
    axes.set_xlabel("environment steps")
    axes.set_xlim(left=0)


def count_ticks(axes: Axes) -> None:
    """Write the horizontal axis' numbers short: 200k, 10M."""
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: steps_text(x)))


def there(results: Sequence[Result], entries: Sequence[tuple[str, Look]]) -> list[tuple[str, Look]]:
    """Those of a legend's entries that have a point on the picture."""
    drawn = [arm.look for arm, runs, _ in results if runs]
    return [entry for entry in entries if entry[1] in drawn]


def legend(
    picture: Picture, entries: Sequence[tuple[str, Look]], lines: bool = False, columns: int = 6
) -> None:
    """The entries above the picture, as markers or as lines."""
    handles = [_line(*entry) if lines else _point(*entry) for entry in entries]
    columns = min(columns, len(handles))
    picture.legend(handles=handles, loc="outside upper center", ncols=columns)


def by_panel(results: Sequence[Result]) -> dict[str, list[Result]]:
    """Results grouped by their arm's panel, in order of appearance."""
    panels: dict[str, list[Result]] = {}
    for result in results:
        panels.setdefault(result.arm.panel, []).append(result)
    return panels


def empty(axes: Axes, results: Sequence[Result]) -> bool:
    """Whether there is nothing to draw here; says so on the picture."""
    if any(result.runs for result in results):
        return False
    axes.text(0.5, 0.5, "not run yet", transform=axes.transAxes, ha="center", color="#8A8A8A")
    axes.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
    axes.grid(False)
    axes.spines[:].set_color(FAINT)
    return True


def _marker(look: Look) -> dict:
    return {
        "marker": look.marker,
        "markersize": look.marker_size,
        "color": look.colour,
        "markeredgecolor": "white",
        "markeredgewidth": 0.6,
    }


def _point(label: str, look: Look) -> Line2D:
    return Line2D([], [], linestyle="none", label=label, **_marker(look))


def _line(label: str, look: Look) -> Line2D:
    return Line2D([], [], color=look.colour, linestyle=look.line, label=label)
