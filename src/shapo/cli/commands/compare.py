"""`shapo compare`: which of several ways of training is better here?"""

import argparse
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shapo.cli.parsing import Parser, add_experiment_options, experiment_choices, warn_of_idle
from shapo.cli.printing import print_prose, print_skipped
from shapo.words import BadInput, cut, folder_name, option_of, printable, whole_number

if TYPE_CHECKING:
    from shapo.experiment import Experiment
    from shapo.experiments.groups import Group
    from shapo.experiments.sweep.plan import Job
    from shapo.runs.folder import Run

EXAMPLES = """\
examples:
  shapo compare --env SafetyPointGoal1-v0 --algo trpo-pid --steps 1e6 --seeds 1
      One run without and one with SHAPO; about two minutes on two cores.
  shapo compare --steps 1e6 --arm algo=trpo --arm algo=trpo-pid --arm "algo=trpo-pid gradient=shapo"
      Any arms: each is what it has of its own, key=value as in the options; all else is common to all.
  shapo compare --arm gradient=plain --arm "gradient=my_rules:LookAhead(radius=1e-4)"
      A gradient rule of your own; --gradient my_rules:LookAhead alone compares it with plain.
  shapo compare runs/ours runs/theirs
      Runs that are there, or archives of them; nothing is trained.
  shapo compare --env Ant-v4 --algo crpo --seeds 5 --out runs/ant-crpo
      The published five seeds. Interrupted? The same command goes on where it stopped.

Prints a line per arm and its difference from the same without its gradient rule, or else from the first, with what the
numbers mean, and draws comparison.png, .svg and .pdf; of runs that are there, without --out, in the current folder
under their names: comparison-runs-ours-….png.
"""

LONGEST = 120
"""Bytes of a picture's name."""


def describe(parser: Parser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add(
        "runs", nargs="*", type=Path, metavar="RUNS",
        help="folders or archives of runs that are there, instead of training",
    )  # fmt: skip
    add(
        "--arm", action="append", metavar='"KEY=VALUE …"',
        help="one way of training, by what is its own; give one for each [gradient=plain and gradient=shapo]",
    )  # fmt: skip
    add("--seeds", type=whole_number, metavar="INT", help="runs of each arm [3]")
    add(
        "--out", type=Path,
        help="folder of the runs and of comparison.png [runs/compare-ENV-ALGO; of RUNS, "
        "comparison-RUNS.png in the current one]",
    )  # fmt: skip
    add(
        "--json", action="store_true", default=False,
        help="also print the numbers as one JSON object",
    )  # fmt: skip
    add(
        "--gradient", metavar="RULE",
        help="without --arm: what is compared with plain; with: the rule of each arm that names none [shapo]",
    )  # fmt: skip
    add_experiment_options(parser, without=("gradient", "seed"))


def run(options: argparse.Namespace) -> None:
    """Train what is missing, or read what is there; then show the difference."""
    from rich.console import Console

    from shapo.experiments.comparison import picture
    from shapo.experiments.comparison.numbers import notes, summary
    from shapo.experiments.comparison.printed import explanation, printed

    given = getattr(options, "runs", [])
    arms, folder = _found(options) if given else _trained(options)
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)  # nobody wants a table turned on its side to fit 80 columns
    for table in printed(arms, console.width):
        console.print(table)
    print_prose(explanation(arms))
    for line in notes(arms):
        print_prose(printable(line))
    if options.json:
        print(json.dumps(summary(arms)))
    name = "comparison" if not given or "out" in options else _called(given)
    print(f"picture={picture.save(arms, folder, name)[0]}")


def _called(given: Sequence[Path]) -> str:
    """The name of a picture that is to lie beside those of other comparisons."""
    parts = [part for path in given for part in path.resolve().parts[-2:]]
    whole = folder_name("-".join(["comparison", *parts]))
    short = cut(whole, LONGEST)
    if short == whole:
        return whole
    return f"{short}-{hashlib.blake2b(whole.encode(), digest_size=4).hexdigest()}"


def _found(options: argparse.Namespace) -> "tuple[list[Group], Path]":
    """Arms among runs that are there."""
    from shapo.experiments.comparison.arms import arms_of
    from shapo.runs.reading import read_runs

    of_training = [name for name in ("arm", "seeds") if name in options]
    if idle := [*of_training, *experiment_choices(options)]:
        raise BadInput(
            f"{option_of(idle[0])} is for training; leave it away, or leave {options.runs[0]} away"
        )
    found = read_runs(*options.runs)
    print_skipped(found.skipped)
    if not found.runs:
        raise BadInput(f"no run that can be read in {', '.join(map(str, options.runs))}")
    given = [path.resolve() for path in options.runs]
    of = lambda run: [run.folder.resolve().is_relative_to(path) for path in given].index(True)
    return arms_of(sorted(found.runs, key=of)), getattr(options, "out", Path())


def _trained(options: argparse.Namespace) -> "tuple[list[Group], Path]":
    """Arms that are trained as far as they are not yet."""
    from shapo.experiment import Experiment
    from shapo.experiments.comparison.arms import arms_of, distinct, read_arm
    from shapo.experiments.sweep.plan import plan

    seeds = getattr(options, "seeds", 3)
    if seeds < 1:
        raise BadInput(f"--seeds is {seeds}; at least one is needed")
    choices = experiment_choices(options)
    own = [read_arm(text) for text in getattr(options, "arm", [])] or _without_and_with(choices)
    kinds = [Experiment(**choices | each) for each in own]
    _warn(choices, own, kinds)
    distinct(kinds)
    algos = list(dict.fromkeys(each.algo for each in kinds))
    name = folder_name("-".join(["compare", kinds[0].env, *algos]))
    folder = getattr(options, "out", Path("runs") / name)
    wanted = [each.replace(seed=seed) for seed in range(seeds) for each in kinds]
    planned = plan(wanted, folder)
    for note in planned.notes:
        print(note)
    return arms_of(_train(planned.jobs, wanted)), folder


def _without_and_with(choices: dict[str, Any]) -> list[dict[str, Any]]:
    """The arms where none is named; takes the rule out of what is common to both."""
    if (rule := choices.pop("gradient", "shapo")) == "plain":
        raise BadInput("--gradient plain is what the other rule is compared with; name another")
    return [{"gradient": "plain"}, {"gradient": rule}]


def _warn(
    choices: Mapping[str, Any], own: Sequence[Mapping[str, Any]], kinds: "Sequence[Experiment]"
) -> None:
    """A line about each choice that does nothing: in any arm, or in the arm that makes it."""
    warn_of_idle(choices, kinds)
    for each, kind in zip(own, kinds, strict=True):
        warn_of_idle([name for name in each if name not in choices], [kind])


def _train(jobs: "Sequence[Job]", wanted: "Sequence[Experiment]") -> "list[Run]":
    """The finished runs; one after the other, each with all cores."""
    from shapo.experiments.sweep.pace import Pace
    from shapo.runs.absent import is_run
    from shapo.runs.lines import Among, time_left
    from shapo.runs.screen import screen
    from shapo.runs.stopping import goes_on_when_repeated
    from shapo.training import train

    pace, done = Pace(), []
    for number, (job, choice) in enumerate(zip(jobs, wanted, strict=True), 1):

        def seconds_left(row: Mapping[str, float], job=job, later=jobs[number:]) -> float:
            pace.note(job, row)
            of_later = pace.seconds_left(later, at_once=1) or 0.0
            return time_left(row, job.experiment.iterations) + of_later

        experiment = job.experiment.replace(workers=choice.workers)
        begun = is_run(job.folder)
        among = Among(number, len(jobs), job.name, seconds_left)
        with goes_on_when_repeated(), screen(experiment, among) as watch:
            done.append(train(experiment, job.folder, resume=begun, watch=watch, quiet=True).now())
    return done
