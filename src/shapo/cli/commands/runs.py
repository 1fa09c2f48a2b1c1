"""`shapo runs`: what runs there are."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from shapo.cli.parsing import Parser
from shapo.cli.printing import print_columns
from shapo.words import BadInput, counted, or_dash, printable

if TYPE_CHECKING:
    from shapo.runs.overview import Line

EXAMPLES = """\
examples:
  shapo runs
      Every run below runs/: how far it has come, and return and cost per episode in its last iteration,
      each cost beside its limit.
  shapo runs runs/sweep --check
      Also verify every file against the checksums that were written with it.
  shapo runs study.runs.gz
      The runs of an archive; return and cost are means over the last hundredth of each.
"""


class DamagedRuns(Exception):
    """Some runs are not what was written."""


def describe(parser: Parser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add(
        "folders",
        nargs="*",
        type=Path,
        metavar="RUNS",
        help="run folders, folders of runs, or archives [runs]",
    )
    add("--check", action="store_true", default=False, help="verify every file by its checksum")


def run(options: argparse.Namespace) -> None:
    """Print the list, and what is damaged."""
    from shapo.runs.overview import damage, overview

    folders = getattr(options, "folders", None) or [Path("runs")]
    lines = overview(folders)
    if not lines:
        raise BadInput(f"{', '.join(map(str, folders))}: no run in there")
    print_columns(
        [("run", "steps", "return", "cost", "state"), *map(_words, lines)], right=(1, 2, 3)
    )
    if not options.check:
        return
    broken = damage(folders)
    for problems in broken.values():
        for problem in problems:
            print(printable(f"damaged: {problem}"))
    if broken:
        raise DamagedRuns(f"{len(broken)} of {counted(len(lines), 'run')} damaged")
    print(f"{counted(len(lines), 'run')} sound")


def _words(line: "Line") -> tuple[str, ...]:
    costs = zip(line.costs, line.limits, strict=True)
    return (
        printable(line.folder),
        f"{line.steps:,}",
        or_dash(line.reward),
        ", ".join(f"{or_dash(cost)} of {limit:g}" for cost, limit in costs) or "–",
        " ".join(printable(line.state).split()),
    )
