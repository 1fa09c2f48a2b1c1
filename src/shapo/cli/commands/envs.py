"""`shapo envs`: what there is to train on."""

import argparse
import json

from shapo.cli.parsing import Parser

EXAMPLES = """\
Any Gymnasium id works, too, if its steps put a cost into info["cost"], if --cost names a function of yours, or if the
algorithm needs none (trpo, ppo); and so does your own class or function, written module:name (shapo train --help shows
how).
"""


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("--json", action="store_true", default=False, help="print one JSON array")


def run(options: argparse.Namespace) -> None:
    """Print the list."""
    from shapo.envs.listing import Row, table

    if options.json:
        print(json.dumps([row._asdict() for row in table()]))
        return
    rows = [tuple(name for name in Row._fields), *(tuple(map(str, row)) for row in table())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(*(word.ljust(width) for word, width in zip(row, widths, strict=True)), sep="  ")
