"""What a trained policy is tried on, its own environment or the one that the user names; and what to try."""

import shlex
from pathlib import Path

from shapo.cli.parsing import Parser
from shapo.experiment import Experiment
from shapo.experiment.extensions import as_options
from shapo.words import at_least_one


def add_trial_options(parser: Parser) -> None:
    """Declare `--max-steps`, `--env` and `--cost`."""
    parser.add_argument(
        "--max-steps", type=at_least_one, default=10_000, metavar="INT",
        help="cut an episode that goes on for longer [10000]",
    )  # fmt: skip
    for name, what in (("env", "environment"), ("cost", "cost")):
        parser.add_argument(
            f"--{name}", default=None, metavar="NAME",
            help=f"the {what}, where the run was trained with one of your own (module:factory)",
        )  # fmt: skip


def what_next(folder: Path, experiment: Experiment) -> str:
    """The commands that show what a finished run has learned, a line each."""
    task = {"env": experiment.env, "cost": experiment.cost}
    own = "".join(f" {option}" for option in as_options(task))
    place = shlex.quote(str(folder))
    commands = (f"evaluate {place}{own}", f"play {place}{own}", f"report {place}")
    return "next: " + "\n      ".join(f"shapo {command}" for command in commands)
