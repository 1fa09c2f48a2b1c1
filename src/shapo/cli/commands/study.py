"""`shapo study`: does SHAPO help, and what in it does?"""

import argparse
import itertools
from pathlib import Path
from typing import TYPE_CHECKING

from shapo.cli.parsing import Parser, add_places_of_runs
from shapo.cli.printing import print_prose, print_skipped, print_table
from shapo.words import BadInput, nearest

if TYPE_CHECKING:
    from shapo.experiments.study.questions import Block
    from shapo.experiments.sweep.sweep import Outcome
    from shapo.runs.folder import Run

EXAMPLES = """\
examples:
  shapo study --runs docs/study
      What the published data say: a line per comparison, from the archive in the repository, in seconds.
  shapo study --runs docs/study --out pictures
      The same, and all comparisons on one picture.
  shapo study --runs runs/study --run
      Train all of it, in the order of worth: 2,300M steps, one to two days on two cores. Interrupted? The same command
      goes on where it stopped.
  shapo study --runs runs/study docs/study --run
      Train what is not published yet, into the first folder.
  shapo study --runs runs/study docs/study --run --block "falls crpo" "falls cpo"
      The same of two blocks alone, whatever comes before them: several machines can share the work.

docs/study-plan.md says what is compared, how, and what was decided before the runs; docs/study.md what came out.
"""


def describe(parser: Parser) -> None:
    """Declare the options."""
    add_places_of_runs(parser, "runs/study")
    parser.add_argument(
        "--run", action="store_true", default=False, help="first train what is missing"
    )
    parser.add_argument(
        "--block", nargs="+", default=[], metavar="NAME",
        help="with --run: train these blocks alone, in the order given [all, in the order of worth]",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, default=None, metavar="FOLDER",
        help="draw all comparisons on one picture, in this folder [none]",
    )  # fmt: skip


def run(options: argparse.Namespace) -> None:
    """Train if asked, then judge."""
    from shapo.runs.reading import read_runs

    into, outcomes = options.runs[0], []
    if options.run:
        if into.is_file():
            raise BadInput(
                f"{into} is a file; what is trained goes to the first of --runs, a folder"
            )
        into.mkdir(parents=True, exist_ok=True)
        outcomes = _train(into, options.runs, options.block)
    elif options.block:
        raise BadInput("--block says what --run trains; add --run")
    elif not into.exists():
        raise BadInput(f"{into}: no such folder; --run trains the study into it")
    found = read_runs(*options.runs)
    print_skipped(found.skipped)
    _show(found.runs)
    if options.out:
        _draw(found.runs, options.out)
    for outcome in outcomes:
        outcome.require_all()


def _train(into: Path, places: list[Path], names: list[str]) -> "list[Outcome]":
    """Block by block: what the first ones find decides what the later ones run."""
    from shapo.experiments import sweep
    from shapo.experiments.study.plan import blocks
    from shapo.runs.reading import read_runs

    print_skipped(read_runs(*places).skipped)  # lest what cannot be read is trained again unnoticed
    outcomes = []
    for number in itertools.count():
        runs = read_runs(*places).runs
        found = _chosen(blocks(runs), names)
        if number >= len(found):
            break
        if missing := found[number].experiments(runs):
            outcomes.append(sweep.run(missing, into))
    return outcomes


def _chosen(blocks: "list[Block]", names: list[str]) -> "list[Block]":
    """Those that are named, or all."""
    known = {block.name: block for block in blocks}
    for name in names:
        if name not in known:
            waiting = (
                ""
                if len(known) > 1
                else ", and others once its first five seeds are there (docs/study has them)"
            )
            raise BadInput(
                f"--block: no {name!r} among {', '.join(known)}{waiting}{nearest(name, known)}"
            )
    return [known[name] for name in names] or blocks


def _draw(runs: "list[Run]", folder: Path) -> None:
    from shapo.experiments.study import forest, judging

    judgements = judging.judgements(runs)
    if any(each.findings for each in judgements):
        print(f"picture={forest.save(judgements, folder)[0]}")
    else:
        print("nothing to draw yet: a comparison needs three seeds of each of its arms")


def _show(runs: "list[Run]") -> None:
    from shapo.experiments.study import judging, telling

    for block in judging.begun(runs):
        print_prose(telling.title(block, runs))
        print()
        for headings, rows in (
            (telling.ARMS, telling.arms(block, runs)),
            (telling.VERDICTS, telling.verdicts(block, runs)),
        ):
            if rows:
                print_table(headings, rows)
    print_prose(telling.effort(runs))
    print()
    print_table(telling.CLAIMED, telling.claims(runs))
