"""`shapo study`: does SHAPO help, and what in it does?"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from shapo.cli.parsing import Parser
from shapo.words import BadInput

if TYPE_CHECKING:
    from shapo.runs.folder import Run

EXAMPLES = """\
examples:
  shapo study --runs docs/study
      What the published data say: a line per comparison, from the archive in the repository, in seconds.
  shapo study --runs runs/study --run
      Train all of it, in the order of worth: 1,525M steps, some 14 hours on two cores. Interrupted? The same command
      goes on where it stopped.
  shapo study --runs runs/study docs/study --run
      Train what is not published yet, into the first folder.

docs/study.md says what is compared, how, and what was decided before the runs.
"""


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--runs",
        nargs="+",
        type=Path,
        default=[Path("runs/study")],
        metavar="RUNS",
        help="folders of runs, or archives; what is trained goes to the first [runs/study]",
    )
    parser.add_argument(
        "--run", action="store_true", default=False, help="first train what is missing"
    )


def run(options: argparse.Namespace) -> None:
    """Train if asked, then judge."""
    from shapo.runs.reading import read_runs

    into = options.runs[0]
    if options.run:
        if into.is_file():
            raise BadInput(
                f"{into} is a file; what is trained goes to the first of --runs, a folder"
            )
        into.mkdir(parents=True, exist_ok=True)
        _train(into, options.runs)
    elif not into.exists():
        raise BadInput(f"{into}: no such folder; --run trains the study into it")
    _show(read_runs(*options.runs).runs)


def _train(into: Path, places: list[Path]) -> None:
    """Block by block: what the first ones find decides what the later ones run."""
    from shapo.experiments import sweep
    from shapo.experiments.study.plan import blocks
    from shapo.runs.reading import read_runs

    done = 0
    while done < len(found := blocks(runs := read_runs(*places).runs)):
        if missing := found[done].experiments(runs):
            sweep.run(missing, into)
        done += 1


def _show(runs: "list[Run]") -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from shapo.experiments.study import telling

    console = Console()
    console = console if console.is_terminal else Console(width=130)

    def show(headings: telling.Row, rows: list[telling.Row]) -> None:
        table = Table(box=box.SIMPLE)
        for heading in headings:
            table.add_column(heading, overflow="fold")  # a number that is cut is none
        for row in rows:
            table.add_row(*row)
        if rows:
            console.print(table)

    for block in telling.begun(runs):
        console.print(telling.title(block, runs))
        show(telling.ARMS, telling.arms(block, runs))
        show(telling.VERDICTS, telling.verdicts(block, runs))
    show(telling.CLAIMED, telling.claims(runs))
