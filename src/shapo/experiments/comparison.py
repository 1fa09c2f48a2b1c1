"""Two ways of training side by side: what each reached, over seeds, as a table and as a picture."""

import itertools
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

from shapo.experiment import Experiment
from shapo.experiments import style
from shapo.experiments.curves import mean_curve
from shapo.experiments.statistics import Interval, paired_difference, standard_error
from shapo.runs.folder import Run

SMOOTHED = 5
"""Iterations over which a curve is averaged."""
MISSING = "–"


class Quantity(NamedTuple):
    """Something that is compared: a column, at the end of the training or over all of it."""

    name: str
    column: str
    whole: bool
    """Whether its last value speaks of the whole training; else its mean over the last tenth of the steps counts."""

    def of(self, run: Run) -> float:
        """What it comes to in a run; NaN if the run has no episode that ended."""
        return run.history.last(self.column) if self.whole else run.history.final(self.column)


class Side(NamedTuple):
    """One way of training: its name, its look and its runs, one per seed and in the order of the other side's."""

    name: str
    look: style.Look
    runs: Sequence[Run]

    def values(self, quantity: Quantity) -> NDArray[np.float64]:
        """One number per run."""
        return np.array([quantity.of(run) for run in self.runs])


RETURN = Quantity("return", "reward/episode", whole=False)


def of_costs(experiment: Experiment) -> list[tuple[Quantity, ...]]:
    """Of each cost: per episode in the end, per step and in all over the whole training, and its tail."""
    count = len(experiment.cost_limit)
    marks = [("", "")] if count == 1 else [(f" {i}", f"_{i}") for i in range(1, count + 1)]
    return [
        (
            Quantity(f"cost{word}", f"cost/episode{mark}", whole=False),
            Quantity(f"cost rate{word}", f"cost/rate{mark}", whole=True),
            Quantity(f"total cost{word}", f"cost/total{mark}", whole=True),
            Quantity(f"cost p95{word}", f"cost/p95{mark}", whole=False),
        )
        for word, mark in marks
    ]


def quantities(experiment: Experiment) -> list[Quantity]:
    """All that is compared."""
    return [RETURN, *itertools.chain(*of_costs(experiment))]


def table(base: Side, other: Side) -> Table:
    """Both sides and their paired difference, with 95 % intervals where there is more than one seed."""
    listing = Table(title=_title(base))
    for heading in ("", base.name, other.name, "difference"):
        listing.add_column(heading, justify="right")
    for what in quantities(base.runs[0].experiment):
        ours, theirs = other.values(what), base.values(what)
        listing.add_row(what.name, _mean(theirs), _mean(ours), _interval(_difference(ours, theirs)))
    return listing


def summary(base: Side, other: Side) -> dict[str, Mapping[str, object]]:
    """The same numbers for a machine; what is missing or says nothing is None."""
    found = {}
    for what in quantities(base.runs[0].experiment):
        ours, theirs = other.values(what), base.values(what)
        difference = _difference(ours, theirs)
        found[what.name] = {
            base.name: [_finite(value) for value in theirs],
            other.name: [_finite(value) for value in ours],
            "difference": difference
            and {name: _finite(value) for name, value in difference._asdict().items()},
        }
    return found


def missing(base: Side, other: Side) -> list[str]:
    """A line about each number that is not there, and why."""
    lines = []
    for side in (base, other):
        for run in side.runs:
            empty = [
                what.name for what in quantities(run.experiment) if not np.isfinite(what.of(run))
            ]
            if empty:
                seed = f"{side.name}, seed {run.experiment.seed}"
                lines.append(f"{seed}: no {' or '.join(empty)}, for no episode ended")
    return lines


def picture(base: Side, other: Side, path: Path) -> None:
    """Learning curves of return and cost, and return against cost rate; a row for each cost."""
    experiment = base.runs[0].experiment
    rows = len(experiment.cost_limit)
    matplotlib.use("agg")
    with style.house_style():
        figure, axes = plt.subplots(rows, 3, figsize=(9.0, 2.7 * rows), squeeze=False)
        for (returns, costs, plane), (cost, rate, *_), limit in zip(
            axes, of_costs(experiment), experiment.cost_limit, strict=True
        ):
            for side in (base, other):
                _draw_curve(returns, side, "reward/episode")
                _draw_curve(costs, side, cost.column)
                plane.plot(
                    side.values(rate), side.values(RETURN), side.look.marker,
                    color=side.look.colour, markersize=side.look.marker_size, label=side.name,
                )  # fmt: skip
            costs.axhline(
                limit, color=style.BLACK, linewidth=0.8, linestyle=":", label=f"limit {limit:g}"
            )
            returns.set(xlabel="million steps", ylabel="episode return")
            costs.set(xlabel="million steps", ylabel=f"episode {cost.name}", ylim=(0, None))
            plane.set(xlabel=rate.name, ylabel="final return")
            plane.locator_params(axis="x", nbins=4)
            plane.margins(0.15)
            costs.legend()
            plane.legend()
        figure.suptitle(_title(base))
        if lines := missing(base, other):
            style.margin_note(figure, "\n".join(lines))
        style.write(figure, path)
        plt.close(figure)


def _draw_curve(axes: Axes, side: Side, column: str) -> None:
    steps, mean, error = mean_curve(side.runs, column, SMOOTHED)
    axes.plot(steps / 1e6, mean, color=side.look.colour, linestyle=side.look.line, label=side.name)
    if error.any():
        axes.fill_between(
            steps / 1e6, mean - error, mean + error, color=side.look.colour, alpha=0.2, linewidth=0
        )


def _title(side: Side) -> str:
    experiment, seeds = side.runs[0].experiment, len(side.runs)
    many = "1 seed" if seeds == 1 else f"{seeds} seeds"
    return f"{experiment.env}, {experiment.algo}, {experiment.steps / 1e6:g}M steps, {many}"


def _difference(ours: NDArray, theirs: NDArray) -> Interval | None:
    """Over the seeds where both are known."""
    pairs = np.isfinite(ours) & np.isfinite(theirs)
    return paired_difference(ours[pairs], theirs[pairs]) if pairs.any() else None


def _mean(values: NDArray) -> str:
    known = values[np.isfinite(values)]
    if not len(known):
        return MISSING
    of = f" ({len(known)} of {len(values)} seeds)" if len(known) < len(values) else ""
    if len(known) == 1:
        return f"{known[0]:.4g}{of}"
    error = standard_error(known)
    return f"{_rounded(known.mean(), error)} ± {_rounded(error, error)}{of}"


def _interval(found: Interval | None) -> str:
    if found is None:
        return MISSING
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


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
