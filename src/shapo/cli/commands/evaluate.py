"""`shapo evaluate`: how good and how safe a trained policy is."""

import argparse
import json
import warnings
from pathlib import Path

from shapo.cli.parsing import Parser
from shapo.words import whole_number

EXAMPLES = """\
examples:
  shapo evaluate runs/ant
      20 episodes with the mean action and 20 with sampled ones.
  shapo evaluate runs/ant --episodes 100 --seed 7 --json
      More of them, on other layouts, as one JSON object.

Observations are normalised with the statistics of the training; the environments' seeds are none of the training's.
"""


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's folder")
    parser.add_argument(
        "--env", default=None, metavar="MODULE:FACTORY",
        help="the run's environment, where it is code of your own: no folder has code imported by itself",
    )  # fmt: skip
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
    parser.add_argument("--json", action="store_true", default=False, help="print one JSON object")


def run(options: argparse.Namespace) -> None:
    """Play and print."""
    from shapo.cli.trust import trusted_environment
    from shapo.evaluate import evaluate
    from shapo.rollout.task import Task
    from shapo.runs.folder import Run
    from shapo.runs.resuming import changed_versions

    trained = Run.open(options.run)
    for note in changed_versions(trained):
        warnings.warn(note, stacklevel=1)
    policy, build = (
        trained.policy,
        Task(trained.experiment, trusted_environment(trained, options.env)).build,
    )
    kinds = {"mean action": False, "sampled action": True}
    found = {
        kind: evaluate(policy, build, options.episodes, options.seed, stochastic).summary()
        for kind, stochastic in kinds.items()
    }
    if options.json:
        print(json.dumps({"run": str(options.run), **found}))
        return
    limit = " + ".join(f"{limit:g}" for limit in trained.experiment.cost_limit)
    print(f"{trained.experiment.env}, {options.episodes} episodes each, cost limit {limit}")
    for kind, numbers in found.items():
        print(
            f"{kind:>15}: return {numbers['return']:8.2f} ± {numbers['return_error']:.2f}   "
            f"cost {numbers['cost']:7.2f} ± {numbers['cost_error']:.2f} "
            f"(80 % ≤ {numbers['cost_p80']:.1f}, 95 % ≤ {numbers['cost_p95']:.1f})   "
            f"length {numbers['length']:.0f}   terminated {numbers['terminated']:.0%}"
        )
