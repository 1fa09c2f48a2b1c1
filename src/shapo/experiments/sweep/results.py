"""What came of a sweep: what each configuration reached, over its seeds."""

from collections.abc import Sequence

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from shapo.experiments.groups import Group, grouped
from shapo.experiments.quantities import COST, COST_RATE, RETURN, Quantity
from shapo.experiments.statistics import rounded, standard_error
from shapo.runs.folder import Run
from shapo.words import printable

HEADINGS = (RETURN.name, COST.name, "limit", COST_RATE.name, "seeds")
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
    limit = " + ".join(f"{limit:g}" for limit in group.experiment.cost_limit)
    earned, cost, rate = (_over_seeds(group, each) for each in (RETURN, COST, COST_RATE))
    return earned, cost, limit, rate, str(len(group.runs))


def _over_seeds(group: Group, quantity: Quantity) -> str:
    values = [quantity.of(run) for run in group.runs]
    if not np.isfinite(values).all():
        return MISSING
    error = standard_error(values)
    middle = rounded(float(np.mean(values)), error)
    return middle if np.isnan(error) else f"{middle} ± {rounded(error, error)}"
