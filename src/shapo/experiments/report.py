"""One HTML page about many runs, complete in itself, made to be sent to somebody."""

import dataclasses
import json
import math
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shapo.experiment import Experiment
from shapo.experiments.curves import mean_curve
from shapo.experiments.groups import Group, comparisons, grouped
from shapo.experiments.quantities import COST, COST_P95, COST_RATE, RETURN, TOTAL_COST
from shapo.experiments.statistics import Interval, bracketed
from shapo.runs.files import write_atomically
from shapo.runs.folder import Run
from shapo.runs.reading import Runs, names, read_episodes, read_runs
from shapo.words import BadInput, counted

CURVES = {
    "reward/episode": "Return per episode",
    "cost/episode": "Cost per episode",
    "cost/rate": "Cost rate",
    "cost/total": "Total cost",
    "cost/p95": "Cost per episode, 95th percentile",
    "gradient/alpha": "α: tail that the perturbation stands for",
    "gradient/kl": "KL reached by the perturbation",
    "gradient/cosine": "cos(g, g̃)",
    "policy/multiplier": "λ: multiplier",
    "policy/kl": "KL of the update",
}
NUMBERS = {
    RETURN: "return",
    COST: "cost",
    COST_RATE: "cost rate",
    TOTAL_COST: "total cost",
    COST_P95: "cost, 95th %",
}
"""What the table of runs tells of each, and as what."""
POINTS = 300
"""Points per curve on the page; the runs' files keep them all."""
DIGITS = 4
TAIL_FROM = 0.5
"""Tails are of the episodes after this share of a run."""


def write(folders: Sequence[str | Path], out: Path, title: str) -> Runs:
    """Write the page about the runs in these folders; returns what was found in them."""
    found = read_runs(*folders)
    where = " ".join(map(str, folders))
    if not found.runs and found.skipped:
        folder, reason = found.skipped[0]
        raise BadInput(
            f"{where}: none of {counted(len(found.skipped), 'run')} can be read; {folder}: {reason}"
        )
    if not found.runs:
        raise BadInput(f"{where}: no run in there")
    # A folder's name may be no text at all.
    write_atomically(Path(out), page(found, title).encode("utf-8", "backslashreplace"))
    return found


def page(found: Runs, title: str = "shapo report") -> str:
    """The whole page: markup, style, script and data in one string."""
    parts = files("shapo.experiments") / "report_page"
    data = json.dumps(contents(found, title), ensure_ascii=False, separators=(",", ":"))
    html = (parts / "page.html").read_text("utf-8")
    for place, text in {
        "/* page.css */": (parts / "page.css").read_text("utf-8"),
        "/* charts.js */": (parts / "charts.js").read_text("utf-8"),
        "/* page.js */": (parts / "page.js").read_text("utf-8"),
        # The data come last, so that nothing in them is taken for a place; and no "<" in them can
        # end the script element that holds them.
        "/* data.json */": data.replace("<", "\\u003c"),
    }.items():
        html = html.replace(place, text, 1)
    return html


def contents(found: Runs, title: str) -> dict:
    """What the page shows, as plain lists and numbers; a missing number is null."""
    groups = grouped(found.runs)
    left_out = {out.run.folder: out.reason for group in groups for out in group.left_out}
    member = {
        run.folder: index
        for index, group in enumerate(groups)
        for run in (*group.runs, *(out.run for out in group.left_out))
    }
    compared = comparisons(groups)
    return {
        "title": title,
        "curves": CURVES,
        "columns": {quantity.column: name for quantity, name in NUMBERS.items()},
        "groups": [_group(group) for group in groups],
        "runs": [
            _run(run, name, member[run.folder], left_out.get(run.folder, ""))
            for run, name in zip(found.runs, names(found.runs), strict=True)
        ],
        "comparisons": [
            [
                c.env,
                c.label,
                c.pairs,
                _interval(c.reward),
                _interval(c.cost_rate),
                c.better_reward,
                c.safer,
            ]
            for c in compared.made
        ],
        "not_compared": compared.not_made,
        "skipped": [[str(folder), reason] for folder, reason in found.skipped],
        **_choices([run.experiment for run in found.runs]),
    }


def _interval(found: Interval) -> str:
    alone = not math.isfinite(found.low)
    return f"{found.estimate:+.4g} (one pair: no interval)" if alone else bracketed(found)


def _group(group: Group) -> dict:
    curves = {}
    for column in CURVES:
        steps, mean, error = mean_curve(group.runs, column)
        if len(steps):
            shown = _thinned(len(steps))
            curves[column] = [_rounded(values[shown]) for values in (steps, mean, error)]
    gradient = group.experiment.gradient
    return {
        "env": group.env,
        "label": group.label,
        "gradient": gradient,
        "method": group.label.replace(f" · {gradient}", "", 1),
        "seeds": len(group.runs),
        "costs": len(group.experiment.cost_limit),
        "limit": group.experiment.cost_limit[0],
        "curves": curves,
        "tail": _tail(group.runs),
    }


def _run(run: Run, name: str, group: int, left_out: str) -> dict:
    history = run.history
    shown = _thinned(len(history.values("steps")))
    curves = {column: history.values(column)[shown] for column in CURVES}
    return {
        "name": name,
        "group": group,
        "seed": run.experiment.seed,
        "version": run.version,
        "state": "finished" if run.finished else run.failure or "unfinished",
        "left_out": left_out,
        "total": run.experiment.steps,
        "speed": _number(history.final("time/steps_per_second")),
        "final": [_number(quantity.of(run)) for quantity in NUMBERS],
        "steps": [int(steps) for steps in history.values("steps")[shown]],
        "curves": {
            column: _rounded(values)
            for column, values in curves.items()
            if not np.isnan(values).all()
        },
    }


def _tail(runs: Sequence[Run]) -> list[list[float | None]]:
    """How often an episode costs more than x: x, and the share of late episodes beyond it."""
    costs = []
    for run in runs:
        episodes = read_episodes(run)
        late = episodes.values("steps") > TAIL_FROM * run.history.steps
        costs.append(episodes.values("cost")[late])
    cost, count = np.unique(np.concatenate(costs), return_counts=True)
    beyond = 1 - np.cumsum(count) / max(count.sum(), 1)
    shown = _thinned(len(cost))
    return [_rounded(cost[shown]), _rounded(beyond[shown])]


def _choices(experiments: Sequence[Experiment]) -> dict[str, list]:
    """Which settings all runs share, and which vary, with their values."""
    shared, varying = [], []
    for field in dataclasses.fields(Experiment):
        values = sorted({getattr(e, field.name) for e in experiments})
        if len(values) == 1:
            shared.append([field.name, _text(values[0])])
        elif values:
            varying.append([field.name, ", ".join(map(_text, values))])
    return {"shared": shared, "varying": varying}


def _text(value: object) -> str:
    return " × ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _thinned(count: int) -> NDArray[np.intp]:
    """At most `POINTS` of so many indices, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, POINTS)).round().astype(np.intp))


def _rounded(values: Sequence[float] | NDArray) -> list[float | None]:
    return [_number(value) for value in values]


def _number(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    return int(value) if value == int(value) else float(f"{value:.{DIGITS}g}")
