"""`shapo figure`: the figures and tables of the paper."""

import argparse
from pathlib import Path

from shapo.cli.parsing import Parser, add_places_of_runs
from shapo.cli.printing import print_columns
from shapo.words import at_least_one, real_number

EXAMPLES = """\
examples:
  shapo figure list
      Every figure, and what it needs.
  shapo figure gaussian-gradients schedule-curves
      Drawn at once: they need no run.
  shapo figure main --runs runs
      Drawn from the runs there are; says which are missing and how long they would take.
  shapo figure main --runs runs/paper docs/study --run
      Trains what neither of them has, into the first.
  shapo figure runtime --run --steps 1e6 --seeds 2
      A smaller version, trained first.
  shapo figure curves-pointgoal1 --runs docs/study --pessimism 1e-3
      With another radius of SHAPO than the published one, from our own published runs.
"""


def describe(parser: Parser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("names", nargs="+", metavar="NAME", help="figures to draw, `all` or `list`")
    add_places_of_runs(parser, "runs")
    add("--out", default=Path("figures"), type=Path, help="folder for the pictures [figures]")
    add("--run", action="store_true", default=False, help="first train what is missing")
    add(
        "--steps",
        type=at_least_one,
        default=None,
        metavar="INT",
        help="length of a run, not the paper's",
    )
    add(
        "--seeds",
        type=at_least_one,
        default=None,
        metavar="INT",
        help="seeds per configuration, not the paper's",
    )
    add(
        "--pessimism",
        type=real_number,
        default=None,
        metavar="FLOAT",
        help="SHAPO's radius, not the published one, where a figure compares no radii",
    )


def run(options: argparse.Namespace) -> None:
    """List or draw."""
    from shapo.experiments import figures

    if "list" in options.names:
        print_columns(figures.listing())
        return
    order = figures.Order(
        options.runs, options.out, options.run, options.steps, options.seeds, options.pessimism
    )
    figures.make(options.names, order)
