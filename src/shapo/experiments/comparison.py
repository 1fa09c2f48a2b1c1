"""Two ways of training side by side: what each reached, over seeds, as a table and as a picture."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from rich.table import Table

from shapo.experiments import style
from shapo.experiments.statistics import Interval, paired_difference
from shapo.runs.folder import Run

FINAL_SHARE = 0.1
"""Return and cost at the end are means over this last share of the training."""
COLUMNS = {
    "return": ("reward/episode", FINAL_SHARE),
    "cost": ("cost/episode", FINAL_SHARE),
    "cost rate": ("cost/rate", 0.0),
    "total cost": ("cost/total", 0.0),
    "cost p95": ("cost/p95", FINAL_SHARE),
}
"""What is compared: a column, and over which last share of it; 0: its last value."""


class Side(NamedTuple):
    """One way of training: its name, its look and its runs, one per seed."""

    name: str
    look: style.Look
    runs: Sequence[Run]

    def values(self, what: str) -> NDArray[np.float64]:
        """One number per run."""
        column, share = COLUMNS[what]
        return np.array([_final(run.progress[column], share) for run in self.runs])

    def curve(self, column: str) -> tuple[NDArray, NDArray]:
        """Steps [iterations] and the column [runs, iterations], smoothed over a few iterations."""
        progress = [run.progress for run in self.runs]
        return np.array(progress[0]["steps"]), np.array(
            [_smooth(each[column]) for each in progress]
        )


def table(base: Side, other: Side) -> Table:
    """Both sides and their paired difference, with 95 % intervals where there is more than one seed."""
    listing = Table(title=_title(base))
    for heading in ("", base.name, other.name, "difference"):
        listing.add_column(heading, justify="right")
    for what in COLUMNS:
        ours, theirs = other.values(what), base.values(what)
        listing.add_row(
            what, _mean(theirs), _mean(ours), _interval(paired_difference(ours, theirs))
        )
    return listing


def summary(base: Side, other: Side) -> dict[str, Mapping[str, object]]:
    """The same numbers for a machine."""
    return {
        what: {
            base.name: base.values(what).tolist(),
            other.name: other.values(what).tolist(),
            "difference": paired_difference(other.values(what), base.values(what))._asdict(),
        }
        for what in COLUMNS
    }


def picture(base: Side, other: Side, path: Path) -> None:
    """Learning curves of return and cost, and return against cost rate."""
    limit = base.runs[0].experiment.cost_limit[0]
    matplotlib.use("agg")
    with style.house_style():
        figure, (returns, costs, plane) = plt.subplots(1, 3, figsize=(9.0, 2.7))
        for side in (base, other):
            _draw_curve(returns, side, "reward/episode")
            _draw_curve(costs, side, "cost/episode")
            plane.plot(
                side.values("cost rate"), side.values("return"), side.look.marker,
                color=side.look.colour, markersize=side.look.marker_size, label=side.name,
            )  # fmt: skip
        costs.axhline(
            limit, color=style.BLACK, linewidth=0.8, linestyle=":", label=f"limit {limit:g}"
        )
        returns.set(xlabel="million steps", ylabel="episode return")
        costs.set(xlabel="million steps", ylabel="episode cost", ylim=(0, None))
        plane.set(xlabel="cost rate", ylabel="final return")
        plane.locator_params(axis="x", nbins=4)
        plane.margins(0.15)
        costs.legend()
        plane.legend()
        figure.suptitle(_title(base))
        style.write(figure, path)
        plt.close(figure)


def _draw_curve(axes: Axes, side: Side, column: str) -> None:
    steps, values = side.curve(column)
    mean = values.mean(axis=0)
    axes.plot(steps / 1e6, mean, color=side.look.colour, linestyle=side.look.line, label=side.name)
    if len(values) > 1:
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        axes.fill_between(
            steps / 1e6, mean - error, mean + error, color=side.look.colour, alpha=0.2, linewidth=0
        )


def _title(side: Side) -> str:
    experiment, seeds = side.runs[0].experiment, len(side.runs)
    many = "1 seed" if seeds == 1 else f"{seeds} seeds"
    return f"{experiment.env}, {experiment.algo}, {experiment.steps / 1e6:g}M steps, {many}"


def _final(values: Sequence[float], share: float) -> float:
    """The mean over the last share of a run; NaN if no episode has ended by then."""
    late = np.array(values[-max(1, round(share * len(values))) :], float)
    known = late[~np.isnan(late)]
    return float(known.mean()) if known.size else float("nan")


def _smooth(values: Sequence[float], width: int = 5) -> NDArray:
    """A running mean over the last `width` values, shorter at the beginning."""
    return np.array([np.mean(values[max(0, i - width + 1) : i + 1]) for i in range(len(values))])


def _mean(values: NDArray) -> str:
    if len(values) == 1:
        return f"{values[0]:.4g}"
    error = values.std(ddof=1) / np.sqrt(len(values))
    return f"{_rounded(values.mean(), error)} ± {_rounded(error, error)}"


def _interval(found: Interval) -> str:
    if not np.isfinite(found.low):
        return f"{found.estimate:+.4g}"
    estimate, low, high = (_rounded(x, (found.high - found.low) / 2, "+") for x in found)
    return f"{estimate} [{low}, {high}]"


def _rounded(value: float, spread: float, sign: str = "") -> str:
    """A number to the decimals at which its spread has two digits; more would say nothing."""
    if not np.isfinite(value) or spread <= 0 or not np.isfinite(spread):
        return f"{value:{sign}.4g}"
    decimals = max(0, 1 - math.floor(math.log10(spread)))
    return f"{value:{sign},.{decimals}f}"
