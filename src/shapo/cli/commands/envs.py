"""`shapo envs`: what there is to train on."""

import argparse

from shapo.cli.parsing import Parser

EXAMPLES = """\
Any Gymnasium id works, too, if its steps put a cost into info["cost"]; and so does your own class or function,
written module:name (shapo train --help shows how).
"""


def describe(parser: Parser) -> None:
    """No options."""


def run(options: argparse.Namespace) -> None:
    """Print the list."""
    from shapo.envs.listing import Row, table

    rows = [tuple(name for name in Row._fields), *(tuple(map(str, row)) for row in table())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(*(word.ljust(width) for word, width in zip(row, widths, strict=True)), sep="  ")
