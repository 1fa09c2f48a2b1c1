"""The few kinds of drawing all figures are made of: points with errors, fronts and curves."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse
from matplotlib.ticker import FuncFormatter

from shapo.experiments.figures.figure import Result
from shapo.experiments.statistics import pareto_front, standard_error
from shapo.experiments.style import FAINT, Look, steps_text
from shapo.experiments.table import mean_curve

LABELS = {
    "reward/episode": "return",
    "cost/episode": "episode cost",
    "cost/rate": "cost rate",
    "cost/total": "total cost",
    "cost/p80": "80th percentile of episode cost",
    "cost/p95": "95th percentile of episode cost",
    "termination/rate": "terminations per step",
    "termination/total": "total terminations",
}


class Score(NamedTuple):
    """An arm's return and cost over its seeds."""

    reward: float
    reward_error: float
    cost: float
    cost_error: float


def score(result: Result, cost_column: str) -> Score | None:
    """Mean and standard error of final return and accumulated cost; None without runs."""
    rewards = np.array([run.final("reward/episode") for run in result.runs])
    costs = np.array([run.last(cost_column) for run in result.runs])
    usable = np.isfinite(rewards) & np.isfinite(costs)
    if not usable.any():
        return None
    rewards, costs = rewards[usable], costs[usable]
    errors = np.nan_to_num([standard_error(rewards), standard_error(costs)])
    return Score(float(rewards.mean()), errors[0], float(costs.mean()), errors[1])


def scatter(axes: Axes, results: Sequence[Result], cost_column: str) -> list[Score | None]:
    """A point per arm, return against cost, in an ellipse of one standard error."""
    scores = [score(result, cost_column) for result in results]
    for (arm, _), point in zip(results, scores, strict=True):
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
                xytext=(6, 5),
                fontsize=6.5,
                color="#333333",
                zorder=5,
            )
    axes.set_xlabel(LABELS[cost_column])
    axes.set_ylabel(LABELS["reward/episode"])
    axes.margins(0.16)
    return scores


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


def front(axes: Axes, scores: Sequence[Score | None], look: Look) -> None:
    """The outer edge of what the points reach: no return is had at less cost."""
    points = [point for point in scores if point is not None]
    if len(points) < 2:
        return
    rewards, costs = np.array([p.reward for p in points]), np.array([p.cost for p in points])
    edge = pareto_front(rewards, costs)
    axes.step(
        costs[edge], rewards[edge], where="post", color=look.colour, linestyle=look.line, lw=1.1
    )


def curves(axes: Axes, results: Sequence[Result], column: str) -> None:
    """A line per arm over training, in a band of one standard error."""
    for arm, runs in results:
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


def legend(picture: Picture, entries: Sequence[tuple[str, Look]], lines: bool = False) -> None:
    """One row of entries below the picture, as markers or as lines."""
    handles = [_line(label, look) for label, look in entries] if lines else markers(entries)
    picture.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 6))


def markers(entries: Sequence[tuple[str, Look]]) -> list[Line2D]:
    """Legend handles that show each look's marker."""
    return [
        Line2D([], [], linestyle="none", label=label, **_marker(look)) for label, look in entries
    ]


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
    axes.set(xticks=[], yticks=[])
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


def _line(label: str, look: Look) -> Line2D:
    return Line2D([], [], color=look.colour, linestyle=look.line, label=label)
