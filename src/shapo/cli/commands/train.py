"""`shapo train`: one run."""

import argparse
import dataclasses
import sys
from pathlib import Path

from shapo.cli.parsing import Parser, add_experiment_options, experiment_choices, warn_of_idle
from shapo.cli.trained import what_next
from shapo.words import BadInput, real_number

EXAMPLES = """\
examples:
  shapo train --env SafetyPointGoal1-v0 --algo trpo-pid --gradient shapo
      SHAPO on PID-Lagrangian with the published settings: 10M steps, cost limit 10.
  shapo train --env Ant-v4 --algo cpo --seed 3 --steps 1e6 --out runs/ant
      A shorter run of CPO where a fall costs 1 and the limit is 0.
  shapo train --env mytasks:Maze --cost-limit 5
      Your own environment: the class or function Maze in mytasks.py. Gradient rules, algorithms, schedules and costs of
      your own are named likewise: --gradient "my_rules:LookAhead(radius=1e-4)".
  shapo train --resume runs/ant
      Go on where a run was stopped; the files end up as if it never had been.
  shapo train --resume runs/ant --steps 2e6
      Go on beyond the end of a finished run: the same as one long run, unless a rate falls with the share of steps
      that is left (as PPO's does), which is then said.
  shapo train --config runs/ant/config.json --seed 4
      The same choices again, whatever is published for them; options given here come before those in the file. A file
      of your own holds as much as you like: {"experiment": {"algo": "cpo", "steps": 1000000}}.
  shapo train --resume runs/maze --env mytasks:Maze
      Likewise with code of your own, which no folder has imported by itself.

Options that are not given take the published value for the environment and algorithm; the number in brackets is the
one used where nothing else was published. A run's folder holds config.json, progress.csv (a row per iteration),
episodes.csv (a row per episode), checkpoints, policy.safetensors and TensorBoard events.
"""


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--out", type=Path, help="the run's folder [runs/ENV-ALGO-GRADIENT-seedSEED]"
    )
    parser.add_argument(
        "--resume", type=Path, metavar="RUN", help="continue the run in this folder"
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="choices of a run, or written by hand, to train with again"
    )  # fmt: skip
    parser.add_argument(
        "--restart", type=Path, metavar="RUN",
        help="begin the run in this folder anew; what is there is kept in its folder `aside`",
    )  # fmt: skip
    parser.add_argument("--wandb", metavar="PROJECT", help="also record to Weights & Biases")
    parser.add_argument(
        "--patience", type=real_number, default=300.0, metavar="SECONDS",
        help="an environment that makes no step for so long counts as stuck [300]",
    )  # fmt: skip
    add_experiment_options(parser)


def run(options: argparse.Namespace) -> None:
    """Train, watched by a person or by nobody."""
    from shapo.experiment import Experiment
    from shapo.experiment.extensions import require_named
    from shapo.runs.config import read_config
    from shapo.runs.folder import Run
    from shapo.runs.recorders import Recorder, WeightsAndBiases
    from shapo.runs.resuming import how_to_continue
    from shapo.runs.screen import screen
    from shapo.training import default_folder, tensorboard, train

    choices = experiment_choices(options)
    named = [name for name in ("resume", "restart", "out") if name in options]
    resume = bool(named) and named != ["out"]
    if resume and "config" in options:
        raise BadInput(f"--{named[0]} takes the run's own choices; leave --config away")
    if len(named) > 1:
        raise BadInput(f"--{named[0]} names the run's folder already; leave --{named[1]} away")
    if resume:
        folder = vars(options)[named[0]]
        begun = Run.open(folder)
        experiment = dataclasses.replace(begun.experiment, **choices)
        require_named(experiment.names())
        begun.require_same(experiment)
        if "restart" in options:
            print(f"aside={begun.set_aside()}")
        elif begun.finished and experiment.steps == begun.experiment.steps:
            print(f"finished already; --steps above {experiment.steps:,} goes on")
    else:
        experiment = (
            read_config(options.config).experiment.replace(**choices)
            if "config" in options
            else Experiment(**choices)
        )
        require_named(experiment.names())
        warn_of_idle(choices, [experiment])
        folder = options.out if "out" in options else default_folder(experiment)

    def recorders(run: Run, first: int) -> list[Recorder]:
        records = tensorboard(run, first)
        if "wandb" in options:
            records.append(WeightsAndBiases(options.wandb, run))
        return records

    try:
        with screen(experiment) as watch:
            train(
                experiment,
                folder,
                resume=resume,
                watch=watch,
                quiet=True,
                recorders=recorders,
                patience=options.patience,
            )
    except KeyboardInterrupt as error:
        command = how_to_continue(folder, experiment)
        raise type(error)(f"stopped; continue with: {command}") from None
    print(f"run={folder}")
    if sys.stdout.isatty():
        print(what_next(folder, experiment))
