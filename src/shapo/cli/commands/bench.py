"""`shapo bench`: speed, of an environment alone or of a whole training."""

import argparse
import json
import warnings

from shapo.cli.parsing import (
    Parser,
    add_experiment_options,
    experiment_choices,
    one_of,
    warn_of_idle,
)
from shapo.words import number_text, option_of, real_number, whole_number

EXAMPLES = """\
examples:
  shapo bench train --env SafetyPointGoal1-v0 --algo trpo-pid --gradient shapo --iterations 20 --json
      Steps per second of a whole training, and where the time goes.
  shapo bench env --env Ant-v4 --seconds 10
      Steps per second of one process on one core, beside the physics alone.
"""

OF_AN_ENVIRONMENT = {"env", "num_envs", "seed"}
"""Choices that matter where nothing is learned."""


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument(
        "what", type=one_of(["env", "train"]), metavar="{env,train}", help="what to measure"
    )
    parser.add_argument(
        "--iterations", type=whole_number, default=20, metavar="INT", help="of a training [20]"
    )
    parser.add_argument(
        "--seconds", type=real_number, default=5.0, metavar="FLOAT", help="of stepping [5]"
    )
    parser.add_argument(
        "--policy", type=one_of(["random", "seek"]), default="random", metavar="{random,seek}",
        help="who acts in a bare environment [random]",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", default=False, help="print one JSON object")
    add_experiment_options(parser, without=("steps",))


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    from shapo.experiment import Experiment

    choices = experiment_choices(options)
    experiment = Experiment(**choices)
    if options.what == "env":
        from shapo.bench.env import measure

        for name in choices:
            if name not in OF_AN_ENVIRONMENT:
                said = f"{option_of(name)} does nothing here: nothing is learned"
                warnings.warn(said, stacklevel=1)
        found = measure(
            experiment.env, options.seconds, options.policy, experiment.num_envs, experiment.seed
        )
    else:
        from shapo.bench.train import measure_training

        warn_of_idle(choices, [experiment])
        found = measure_training(experiment, options.iterations)
    if options.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:>30}  {_text(value)}")


def _text(value: object) -> str:
    if isinstance(value, dict):
        return "  ".join(f"{part} {_text(each)}" for part, each in value.items())
    return number_text(value) if isinstance(value, int | float) else str(value)
