"""`shapo repeat`: do the numbers of a run come out again?"""

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from shapo.cli.parsing import Parser
from shapo.experiment import Experiment
from shapo.experiment.choices import kinds
from shapo.words import at_least_one, counted, option_of

if TYPE_CHECKING:
    from shapo.experiments.repeat import Difference
    from shapo.runs.provenance import Provenance

EXAMPLES = """\
examples:
  shapo repeat runs/ant
      Train it again from its config, and compare every number but the times, row by row. Ends at the first row that
      is not the same; nothing is left on disk.
  shapo repeat docs/demo.runs.gz/SafetyPointCircle1-v0_trpo-pid_shapo_s0 --steps 2e5
      The same of a run that was published in an archive, as far as the first 200,000 steps.
  shapo repeat runs/maze --env mytasks:Maze
      Likewise with code of your own, which no folder has imported by itself.

Numbers come out again with the same versions of shapo and its packages, on any x86 processor with AVX2, whatever the
number of workers, threads and cores. Where they do not, what was different is named, as far as it was recorded. The
exit code is 0 if everything compared is the same, 1 if not.
"""

NAMED = [name for name, kind in kinds(Experiment).items() if kind.extensible]
"""Choices that may be code of the user's own."""
SHOWN = 3
"""Differences that are named: all others have the same cause."""


class NotTheSame(Exception):
    """Other numbers came out."""


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument(
        "run",
        type=Path,
        metavar="RUN",
        help="a run's folder, or ARCHIVE/NAME for one in an archive",
    )
    parser.add_argument(
        "--steps", type=at_least_one, default=None, metavar="INT", help="how far [to its end]"
    )
    for name in NAMED:
        parser.add_argument(
            option_of(name), metavar="NAME",
            help=f"your own {name.replace('_', ' ')}, if it was trained with one: module:factory",
        )  # fmt: skip


def run(options: argparse.Namespace) -> None:
    """Train, compare, tell."""
    from shapo.experiment.extensions import require_named
    from shapo.experiments.repeat import repeat
    from shapo.runs.reading import find_run
    from shapo.runs.screen import screen

    recorded = find_run(options.run)
    named = {name: value for name, value in vars(options).items() if name in NAMED}
    experiment = dataclasses.replace(recorded.experiment, **named)
    require_named(experiment.names())
    recorded.require_same(experiment)
    with screen(experiment) as watch:
        found = repeat(dataclasses.replace(recorded, experiment=experiment), options.steps, watch)
    name = recorded.folder.name
    if found.differences:
        raise NotTheSame(
            f"{name}: row {found.rows}, at step {found.steps:,}, is not the same: {_told(found.differences)}; "
            f"{_where_from(recorded.made)}"
        )
    print(
        f"{name}: the same in {counted(found.rows, 'row')} of {found.numbers} numbers, up to step {found.steps:,} "
        f"of {experiment.steps:,}"
    )


def _told(differences: "list[Difference]") -> str:
    told = [f"{each.column} was {each.then!r}, is {each.now!r}" for each in differences[:SHOWN]]
    more = len(differences) - len(told)
    return ", ".join(told) + (f", and {counted(more, 'number')} more" if more else "")


def _where_from(made: "Provenance") -> str:
    """What may be to blame."""
    from shapo.runs.provenance import here, unlike

    now = here()
    changed = unlike({**made.decisive, "commit": made.commit}, {**now.known, "commit": now.commit})
    unknown = "" if made.processor else f"its processor was not recorded, this is {now.processor}"
    known = f"it was begun with {changed}" if changed else ""
    return (
        "; ".join(filter(None, (known, unknown)))
        or "nothing that is recorded of it is different here"
    )
