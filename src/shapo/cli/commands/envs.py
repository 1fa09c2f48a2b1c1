"""`shapo envs`: what there is to train on."""

import argparse
import json
from typing import TYPE_CHECKING

from shapo.cli.parsing import Parser
from shapo.cli.printing import print_columns

if TYPE_CHECKING:
    from shapo.envs.listing import Row

EXAMPLES = """\
Any Gymnasium id works, too, if its steps put a cost into info["cost"], if --cost names a function of yours, or if the
algorithm needs none (trpo, npg, ppo); and so does your own class or function, written module:name (shapo train --help
shows how).
"""


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("--json", action="store_true", default=False, help="print one JSON array")


def run(options: argparse.Namespace) -> None:
    """Print the list."""
    from shapo.envs.listing import table

    if options.json:
        print(json.dumps([row._asdict() for row in table()]))
        return
    rows = [
        (row.id, str(row.observations), str(row.actions), str(row.horizon), f"{row.about}; {_cost(row)}")
        for row in table()
    ]  # fmt: skip
    print_columns([("id", "obs", "actions", "horizon", "about"), *rows], right=(1, 2, 3))


def _cost(row: "Row") -> str:
    return "no cost" if row.cost == "none" else f"cost {row.cost}"
