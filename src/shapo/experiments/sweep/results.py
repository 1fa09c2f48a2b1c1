"""What came of a sweep: what each configuration reached, over its seeds."""

from collections.abc import Sequence

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from shapo.experiments.groups import Group, grouped
from shapo.experiments.statistics import standard_error
from shapo.runs.folder import Run
from shapo.words import printable, spread

HEADINGS = ("return", "cost", "limit", "cost rate", "seeds")
MISSING = "–"


def results_table(runs: Sequence[Run]) -> Table:
    """A line per configuration: return and cost per episode in the end, and the cost rate over the whole training."""
    table = Table(box=box.SIMPLE)
    for heading in ("environment", "configuration"):
        table.add_column(heading, overflow="fold")
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    for group in grouped(runs):
        table.add_row(Text(printable(group.env)), Text(printable(group.label)), *_numbers(group))
    return table


def _numbers(group: Group) -> tuple[str, ...]:
    histories = [run.history for run in group.runs]
    return (
        _over_seeds([each.final("reward/episode") for each in histories]),
        _over_seeds([each.final("cost/episode") for each in histories]),
        " + ".join(f"{limit:g}" for limit in group.experiment.cost_limit),
        _over_seeds([each.last("cost/rate") for each in histories]),
        str(len(group.runs)),
    )


def _over_seeds(values: Sequence[float]) -> str:
    if not np.isfinite(values).all():
        return MISSING
    return f"{np.mean(values):.4g}{spread(standard_error(values))}"
