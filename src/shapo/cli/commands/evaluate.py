"""`shapo evaluate`: how good and how safe a trained policy is."""

import argparse
import json
import warnings
from collections.abc import Sequence
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
HEADINGS = ("", "return", "cost", "80 % ≤", "95 % ≤", "length", "terminated")
HEADINGS_OF_SEVERAL = (
    "", "return", "signal", "cost", "limit", "80 % ≤", "95 % ≤", "length", "terminated",
)  # fmt: skip


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
    limits = [f"{limit:g}" for limit in trained.experiment.cost_limit]
    several = len(limits) > 1
    trained_on = f" (trained on {trained.experiment.env})" if env != trained.experiment.env else ""
    episodes = counted(options.episodes, "episode")
    print(f"{env}{trained_on}, {episodes} each, cost limit{'s' * several} {', '.join(limits)}")
    headings = HEADINGS_OF_SEVERAL if several else HEADINGS
    rows = [row for kind, numbers in found.items() for row in _rows(kind, numbers, limits)]
    print_columns([headings, *rows], right=range(1, len(headings)))
    for kind, numbers in found.items():
        if numbers["cut"]:
            fewer = options.episodes - numbers["episodes"]
            print_prose(
                f"{kind}: {numbers['cut']} of {numbers['episodes']} episodes did not end and were cut after "
                f"{options.max_steps:,} steps (--max-steps)"
                + (f"; {fewer} could not begin" if fewer else "")
            )
    errors = "±: standard error of the mean; " if options.episodes > 1 else ""
    print_prose(f"{errors}80 % ≤: what the cost of 80 % of the episodes does not exceed")


def _rows(kind: str, numbers: dict[str, float], limits: Sequence[str]) -> list[tuple[str, ...]]:
    """One row; where there are several cost signals, one for each of them."""
    earned = f"{numbers['return']:.2f}{spread(numbers['return_error'], '.2f')}"
    end = f"{numbers['length']:.0f}", f"{numbers['terminated']:.0%}"
    if len(limits) == 1:
        return [(kind, earned, *_cost("cost", numbers), *end)]
    rows = []
    for number, limit in enumerate(limits, start=1):
        mean, *tail = _cost(f"cost_{number}", numbers)
        cells = f"{number}", mean, limit, *tail
        rows.append((kind, earned, *cells, *end) if number == 1 else ("", "", *cells, "", ""))
    return rows


def _cost(name: str, numbers: dict[str, float]) -> tuple[str, str, str]:
    return (
        f"{numbers[name]:.2f}{spread(numbers[f'{name}_error'], '.2f')}",
        f"{numbers[f'{name}_p80']:.1f}",
        f"{numbers[f'{name}_p95']:.1f}",
    )


def _without_nan(numbers: dict[str, float]) -> dict[str, float | None]:
    return {name: None if value != value else value for name, value in numbers.items()}
