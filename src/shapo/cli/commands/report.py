"""`shapo report`: one HTML page about any number of runs."""

import argparse
from pathlib import Path

from shapo.cli.parsing import Parser, file_named
from shapo.cli.printing import print_skipped
from shapo.words import counted

EXAMPLES = """\
examples:
  shapo report runs
      All runs below a folder, as report.html: open it, send it, it needs nothing else.
  shapo report runs/demo runs/other -o week.html --title "This week"
"""


def describe(parser: Parser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add(
        "runs",
        nargs="+",
        type=Path,
        metavar="RUNS",
        help="run folders, folders of runs, or archives",
    )
    add(
        "-o", "--out", type=file_named("a page", ".html", ".htm"), default=Path("report.html"),
        help="the page, .html [report.html]",
    )  # fmt: skip
    add("--title", default="shapo report", help="its title [shapo report]")


def run(options: argparse.Namespace) -> None:
    """Write the page."""
    from shapo.experiments import report

    found = report.write(options.runs, options.out, options.title)
    print_skipped(found.skipped)
    print(f"{counted(len(found.runs), 'run')} in {options.out}")
