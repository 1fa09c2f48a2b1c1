"""`shapo algos`: how to learn."""

import argparse
import json

from shapo.cli.parsing import Parser
from shapo.cli.printing import print_columns
from shapo.experiment.algos import ALGOS

EXAMPLES = """\
examples:
  shapo train --algo cpo --gradient shapo
      Every algorithm works with every gradient rule.
  shapo train --gradient "my_rules:LookAhead(radius=1e-4)"
      Either may be your own, written module:factory.
"""
GRADIENTS = {
    "plain": "the slope here: the algorithm as published",
    "sam": "the slope at the worst parameters nearby (E-SAM)",
    "shapo": "the slope at the worst policy nearby: pessimism where the policy has seen little",
}


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("--json", action="store_true", default=False, help="print one JSON object")


def run(options: argparse.Namespace) -> None:
    """Print all lists."""
    lists = {"algo": {name: row.about for name, row in ALGOS.items()}, "gradient": GRADIENTS}
    if options.json:
        print(json.dumps(lists))
        return
    for title, names in lists.items():
        print(f"--{title}")
        print_columns([(f"  {name}", about) for name, about in names.items()])
    print("what an algorithm is made of: objective · step · wrapper")
    print_columns([(f"  {name}", row.made_of) for name, row in ALGOS.items()])
