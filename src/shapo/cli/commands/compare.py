"""`shapo compare`: is SHAPO, or another gradient rule, better here?"""

import argparse
import json
from pathlib import Path

from shapo.cli.parsing import Parser, add_experiment_options, experiment_choices, warn_of_idle
from shapo.words import BadInput, folder_name, whole_number

EXAMPLES = """\
examples:
  shapo compare --env SafetyPointGoal1-v0 --algo trpo-pid --steps 1e6 --seeds 1
      One run without and one with SHAPO; about two minutes on two cores.
  shapo compare --env Ant-v4 --algo crpo --seeds 5 --out runs/ant-crpo
      The published five seeds. Interrupted? The same command goes on where it stopped.
  shapo compare --gradient my_rules:LookAhead --steps 1e6
      A gradient rule of your own instead of SHAPO.

Prints a table (mean ± standard error, and the paired difference with its 95 % interval) and saves a picture. Return,
cost and the 95th percentile are means over the last tenth of the steps; cost rate and total cost are of all of them.
"""


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--seeds", type=whole_number, default=3, metavar="INT", help="runs of each kind [3]"
    )
    parser.add_argument(
        "--out", type=Path, default=None, help="folder of the runs [runs/compare-ENV-ALGO]"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        default=False,
        help="also print the numbers as one JSON object",
    )
    parser.add_argument(
        "--gradient", default="shapo", metavar="RULE",
        help="what is compared with plain: shapo, sam or module:factory of your own [shapo]",
    )  # fmt: skip
    add_experiment_options(parser, without=("gradient", "critic_gradient", "seed"))


def run(options: argparse.Namespace) -> None:
    """Train what is missing, then show the difference."""
    from rich.console import Console

    from shapo.experiment import Experiment
    from shapo.experiments import style
    from shapo.experiments.comparison import Side, missing, picture, summary, table
    from shapo.runs.folder import Run
    from shapo.runs.panel import screen
    from shapo.training import train

    if options.seeds < 1:
        raise BadInput(f"--seeds is {options.seeds}; at least one is needed")
    choices = experiment_choices(options)
    if (rule := choices.pop("gradient")) == "plain":
        raise BadInput("--gradient plain is what the other rule is compared with; name another")
    kinds = [Experiment(**choices, gradient=gradient) for gradient in ("plain", rule)]
    warn_of_idle(choices, kinds)
    name = folder_name(f"compare-{kinds[0].env}-{kinds[0].algo}")
    folder = options.out or Path("runs") / name
    runs: dict[str, list[Run]] = {"plain": [], rule: []}
    for seed in range(options.seeds):
        for gradient, done in runs.items():
            experiment = Experiment(**choices, gradient=gradient, seed=seed)
            place = folder / folder_name(f"{gradient}-seed{seed}")
            with screen(experiment) as watch:
                begun = (place / "config.json").exists()
                done.append(train(experiment, place, resume=begun, watch=watch, quiet=True).now())
    base = Side("vanilla", style.PLAIN, runs["plain"])
    other = Side("SHAPO" if rule == "shapo" else rule, style.SHAPO, runs[rule])
    path = folder / "comparison.png"
    picture(base, other, path)
    Console().print(table(base, other))
    for line in missing(base, other):
        print(line)
    if options.json:
        print(json.dumps(summary(base, other)))
    print(f"picture={path}")
