"""`shapo evaluate`: how good and how safe a trained policy is."""

import argparse
import json
import warnings
from pathlib import Path

from shapo.cli.parsing import Parser
from shapo.cli.printing import print_columns, print_prose
from shapo.cli.trained import add_trial_options
from shapo.words import counted, spread, whole_number

EXAMPLES = """\
examples:
  shapo evaluate runs/ant
      20 episodes with the mean action and 20 with sampled ones.
  shapo evaluate runs/ant --episodes 100 --seed 7 --json
      More of them, on other layouts, as one JSON object.
  shapo evaluate runs/maze --env mytasks:Maze
      A run on an environment of your own: its code is imported only if you name it.

Observations are normalised with the statistics of the training. The environments' seeds are none of the training's, and
no two values of --seed share one.
"""


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's folder")
    parser.add_argument(
        "--episodes",
        type=whole_number,
        default=20,
        metavar="INT",
        help="how many, of each kind [20]",
    )
    parser.add_argument(
        "--seed", type=whole_number, default=0, metavar="INT", help="decides the episodes [0]"
    )
    add_trial_options(parser)
    parser.add_argument("--json", action="store_true", default=False, help="print one JSON object")


def run(options: argparse.Namespace) -> None:
    """Play and print."""
    from shapo.evaluate import blueprint_of, evaluate
    from shapo.runs.folder import Run
    from shapo.runs.provenance import here, unlike

    trained = Run.open(options.run)
    # Another processor matters to a training, which amplifies the last bit of a number; not to a mean of episodes.
    if changed := unlike(trained.made.versions, here().versions):
        warnings.warn(
            f"{trained.folder} was begun with {changed}: numbers may differ", stacklevel=1
        )
    policy, build = trained.policy, blueprint_of(trained, options.env, options.cost).build
    env = options.env or trained.experiment.env
    kinds = {"mean action": False, "sampled action": True}
    found = {
        kind: evaluate(
            policy, build, options.episodes, options.seed, stochastic, options.max_steps
        ).summary()
        for kind, stochastic in kinds.items()
    }
    if options.json:
        # JSON has no NaN: a single episode has no standard error.
        known = {kind: _without_nan(numbers) for kind, numbers in found.items()}
        print(json.dumps({"run": str(options.run), "env": env, **known}))
        return
    limit = " + ".join(f"{limit:g}" for limit in trained.experiment.cost_limit)
    trained_on = f" (trained on {trained.experiment.env})" if env != trained.experiment.env else ""
    episodes = counted(options.episodes, "episode")
    print(f"{env}{trained_on}, {episodes} each, cost limit {limit}")
    headings = ("", "return", "cost", "80 % ≤", "95 % ≤", "length", "terminated")
    print_columns(
        [headings, *(_row(kind, numbers) for kind, numbers in found.items())], right=range(1, 7)
    )
    for kind, numbers in found.items():
        if numbers["cut"]:
            fewer = options.episodes - numbers["episodes"]
            print_prose(
                f"{kind}: {numbers['cut']} of {numbers['episodes']} episodes did not end and were cut after "
                f"{options.max_steps:,} steps (--max-steps)"
                + (f"; {fewer} could not begin" if fewer else "")
            )
    several = "±: standard error of the mean; " if options.episodes > 1 else ""
    print_prose(f"{several}80 % ≤: what the cost of 80 % of the episodes does not exceed")


def _row(kind: str, numbers: dict[str, float]) -> tuple[str, ...]:
    return (
        kind,
        f"{numbers['return']:.2f}{spread(numbers['return_error'], '.2f')}",
        f"{numbers['cost']:.2f}{spread(numbers['cost_error'], '.2f')}",
        f"{numbers['cost_p80']:.1f}",
        f"{numbers['cost_p95']:.1f}",
        f"{numbers['length']:.0f}",
        f"{numbers['terminated']:.0%}",
    )


def _without_nan(numbers: dict[str, float]) -> dict[str, float | None]:
    return {name: None if value != value else value for name, value in numbers.items()}
