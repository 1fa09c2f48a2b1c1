"""What came of a sweep: what each configuration reached, over its seeds."""

from collections.abc import Sequence

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from shapo.experiments.groups import Group, grouped
from shapo.experiments.statistics import rounded, standard_error
from shapo.runs.folder import Run
from shapo.words import printable

HEADINGS = ("return", "cost", "limit", "cost rate", "seeds")
MISSING = "–"


def results_tables(runs: Sequence[Run]) -> list[Table]:
    """A table for each environment with a line per configuration.

    Return and cost are per episode in the end, the cost rate is over the whole training.
    """
    tables: dict[str, Table] = {}
    for group in grouped(runs):
        table = tables.setdefault(group.env, _table(group.env))
        table.add_row(Text(printable(group.label)), *_numbers(group))
    return list(tables.values())


def _table(env: str) -> Table:
    table = Table(title=Text(printable(env)), box=box.SIMPLE)
    table.add_column("configuration", overflow="fold")
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
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
    error = standard_error(values)
    middle = rounded(float(np.mean(values)), error)
    return middle if np.isnan(error) else f"{middle} ± {rounded(error, error)}"
