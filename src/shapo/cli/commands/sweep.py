"""`shapo sweep`: a grid of runs."""

import argparse
from pathlib import Path

from shapo.cli.parsing import Parser, one_of
from shapo.cli.printing import print_prose
from shapo.words import BadInput, whole_number

EXAMPLES = """\
examples:
  shapo sweep grid.yaml --dry-run
      What would be run, and where.
  shapo sweep grid.yaml
      On this machine, one run per core. Interrupted? The same command goes on where it stopped.
  shapo sweep grid.yaml --engine ray --address 10.0.0.1:6379
      On a Ray cluster; every result comes back to this machine as it grows.

A grid in YAML or TOML; a list is an axis, and what is not said takes the published value:
  env: [SafetyPointGoal1-v0, SafetyPointButton1-v0]
  algo: trpo-pid
  steps: 1e6
  seeds: 5
  runs:
    - {gradient: plain}
    - {gradient: shapo, pessimism: [1e-5, 1e-4]}
"""


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("file", type=Path, metavar="FILE", help="the grid (.yaml or .toml)")
    add_engine_options(parser)
    parser.add_argument("--out", type=Path, default=None, help="folder of the runs [runs/FILE]")
    parser.add_argument(
        "--dry-run", action="store_true", default=False, help="show the runs and leave"
    )


def add_engine_options(parser: Parser) -> None:
    """Where the runs are run."""
    parser.add_argument(
        "--engine", type=one_of(["local", "ray"]), default="local", metavar="{local,ray}",
        help="this machine, or a Ray cluster [local]",
    )  # fmt: skip
    parser.add_argument(
        "--address", default=None, metavar="HOST:PORT",
        help="of the Ray cluster's head [the one that Ray finds, or a new one here]",
    )  # fmt: skip
    parser.add_argument(
        "--parallel", type=whole_number, default=None, metavar="INT",
        help="cores to use on this machine, one run on each [all]",
    )  # fmt: skip


def check_engine_options(options: argparse.Namespace) -> None:
    """Refuse what would be ignored."""
    if options.address is not None and options.engine != "ray":
        raise BadInput("--address is a Ray cluster's; add --engine ray")
    if options.parallel is not None and options.engine == "ray":
        raise BadInput("--parallel is for this machine; a Ray cluster knows how many CPUs it has")


def run(options: argparse.Namespace) -> None:
    """Read the grid, show it, and train."""
    from shapo.experiments import sweep
    from shapo.experiments.sweep.grid import read_grid
    from shapo.experiments.sweep.plan import plan, require_known
    from shapo.experiments.sweep.results import results_tables
    from shapo.experiments.sweep.screen import plan_table, wide_console
    from shapo.runs.folder import Run

    check_engine_options(options)
    experiments = read_grid(options.file)
    try:
        require_known(experiments)
    except BadInput as error:
        raise BadInput(f"{options.file}: {error}") from None
    out = options.out or Path("runs") / options.file.stem
    if options.dry_run:
        wide_console().print(plan_table(plan(experiments, out)))
        return
    outcome = sweep.run(experiments, out, options.engine, options.address, options.parallel)
    if outcome.finished:
        finished = [Run.open(job.folder).now() for job in outcome.finished]
        wide_console().print(*results_tables(finished))
        print_prose(
            "mean ± standard error; return and cost per episode in the last tenth, cost rate over the whole training"
        )
    outcome.require_all()
    print(f"runs={out}")
