"""`shapo study`: does SHAPO help, and what in it does?"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from shapo.cli.parsing import Parser
from shapo.words import BadInput

if TYPE_CHECKING:
    from shapo.experiments.study.plan import Block
    from shapo.runs.folder import Run

EXAMPLES = """\
examples:
  shapo study --runs docs/study
      What the published data say: a line per comparison, from the archive in the repository, in seconds.
  shapo study --runs runs/study --run
      Train what is missing, in the order of worth: 1,525M steps, some 14 hours on two cores. Interrupted? The same
      command goes on where it stopped.

docs/study.md says what is compared, how, and what was decided before the runs.
"""


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--runs", type=Path, default=Path("runs/study"), help="folder of the runs [runs/study]"
    )
    parser.add_argument(
        "--run", action="store_true", default=False, help="first train what is missing"
    )


def run(options: argparse.Namespace) -> None:
    """Train if asked, then judge."""
    from shapo.experiments.study.plan import blocks
    from shapo.runs.reading import read_runs

    if not options.run and not options.runs.exists():
        raise BadInput(f"{options.runs}: no such folder; --run trains the study into it")
    read = lambda: read_runs(options.runs).runs if options.runs.exists() else []
    if options.run:
        _train(options.runs, read)
    runs = read()
    for block in blocks(runs):
        _show(block, runs)


def _train(folder: Path, read) -> None:
    """Block by block: what the first ones find decides what the later ones run."""
    from shapo.experiments import sweep
    from shapo.experiments.study.plan import blocks

    done = 0
    while done < len(found := blocks(read())):
        sweep.run(found[done].experiments(), folder)
        done += 1


def _show(block: "Block", runs: "list[Run]") -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from shapo.experiments.study import telling

    console = Console(width=130)
    console.print(telling.title(block, runs))
    for headings, rows in (
        (telling.ARMS, telling.arms(block, runs)),
        (telling.VERDICTS, telling.verdicts(block, runs)),
    ):
        if rows:
            table = Table(*headings, box=box.SIMPLE)
            for row in rows:
                table.add_row(*row)
            console.print(table)
