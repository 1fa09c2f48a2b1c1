"""`shapo tune`: SHAPO's two numbers for an environment and an algorithm."""

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shapo.cli.commands.sweep import add_engine_options, check_engine_options
from shapo.cli.parsing import Parser, add_experiment_options, experiment_choices, warn_of_idle
from shapo.cli.printing import print_columns, print_prose
from shapo.words import BadInput, folder_name, option_of, printable, spread, whole_number

if TYPE_CHECKING:
    from shapo.experiments.tune import GridPoint, Tuning

EXAMPLES = """\
examples:
  shapo tune --env SafetyPointGoal1-v0 --algo trpo-pid --steps 1e6 --seeds 2
      The paper's grid: pessimism over [1e-5, 1e-3], rho-critic over 0.005, 0.01 and 0.05, all else as published.
  shapo tune --env Ant-v4 --algo crpo --points 3 --dry-run
      What a coarser grid would run.

Interrupted? The same command goes on where it stopped. Prints every point, which of them no other beats in both return
and cost, the one to take, and where the algorithm without SHAPO is no worse than that.
"""


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--points", type=whole_number, default=5, metavar="INT", help="values of pessimism [5]"
    )
    parser.add_argument(
        "--seeds", type=whole_number, default=3, metavar="INT", help="runs per point [3]"
    )
    add_engine_options(parser)
    parser.add_argument(
        "--out", type=Path, default=None, help="folder of the runs [runs/tune-ENV-ALGO]"
    )
    parser.add_argument(
        "--dry-run", action="store_true", default=False, help="show the runs and leave"
    )
    fixed = ("gradient", "critic_gradient", "pessimism", "rho_critic", "seed")
    add_experiment_options(parser, without=fixed)


def run(options: argparse.Namespace) -> None:
    """Train what is missing of the grid, then choose."""
    from shapo.experiments import sweep
    from shapo.experiments.sweep.plan import plan
    from shapo.experiments.sweep.screen import plan_table, wide_console
    from shapo.experiments.tune import grid, weigh
    from shapo.runs.reading import read_runs

    check_engine_options(options)
    choices = experiment_choices(options)
    wanted = grid(choices, options.points, options.seeds)
    warn_of_idle(choices, wanted)
    out = options.out or Path("runs") / folder_name(f"tune-{wanted[0].env}-{wanted[0].algo}")
    if options.dry_run:
        wide_console().print(plan_table(plan(wanted, out)))
        return
    outcome = sweep.run(wanted, out, options.engine, options.address, options.parallel)
    try:
        found = weigh(wanted, read_runs(out).runs)
    except BadInput:
        outcome.require_all()  # which is then the reason
        raise
    print_columns(_rows(found), right=range(5))
    for run, _, reason in found.left_out:
        print_prose(printable(f"left out: {run.folder}: {reason}"))
    print_prose(_reason(found))
    print(_command(found, choices))  # in one line, however long: somebody will copy it
    outcome.require_all()


def _rows(found: "Tuning") -> list[tuple[str, ...]]:
    from shapo.experiments.sweep.naming import shown

    rows = [("pessimism", "rho-critic", "return", "cost rate", "seeds", "")]
    if found.base:
        rows.append(("without SHAPO", "", *_scores(found.base), ""))
    for each in found.candidates:
        mark = "chosen" if each is found.choice else "front" if each in found.front else ""
        choice = each.experiment
        rows.append((shown(choice.pessimism), shown(choice.rho_critic), *_scores(each), mark))
    return rows


def _scores(each: "GridPoint") -> tuple[str, str, str]:
    return (
        f"{each.reward:.4g}{spread(each.reward_error)}",
        f"{each.cost_rate:.4g}{spread(each.cost_error)}",
        str(each.seeds),
    )


def _reason(found: "Tuning") -> str:
    if len(found.front) == 1:
        why = "no other point has more return or a lower cost rate"
    else:
        why = (
            f"of the {len(found.front)} points that none beats in both return and cost, it alone covers the most: "
            f"{found.share:.0%} of what they cover together"
        )
    return f"take {_numbers(found)}: {why}\n{_beside_plain(found)}"


def _command(found: "Tuning", choices: Mapping[str, Any]) -> str:
    choice = found.choice.experiment
    same = {"env": choice.env, "algo": choice.algo, **choices}
    words = ["shapo train", *map(_option, same.items()), "--gradient shapo", _numbers(found)]
    return " ".join(words)


def _numbers(found: "Tuning") -> str:
    from shapo.experiments.sweep.naming import shown

    choice = found.choice.experiment
    return f"--pessimism {shown(choice.pessimism)} --rho-critic {shown(choice.rho_critic)}"


def _beside_plain(found: "Tuning") -> str:
    """Whether SHAPO was worth anything here: the choice beside the algorithm without it."""
    if found.base is None:
        return "whether that is better than without SHAPO is open: no run without it has finished an episode"
    reward, cost_rate, _ = _scores(found.base)
    numbers = f"return {reward}, cost rate {cost_rate}"
    same = found.no_worse_without
    if len(same) == 2:
        return f"but without SHAPO neither is worse ({numbers}): nothing here speaks for SHAPO"
    if same:
        return f"but without SHAPO the {same[0]} is no worse ({numbers})"
    return f"without SHAPO both are worse ({numbers})"


def _option(choice: tuple[str, Any]) -> str:
    """A choice as whoever made it typed it."""
    name, value = choice
    values = value if isinstance(value, tuple) else (value,)
    return " ".join([option_of(name), *(shlex.quote(str(each)) for each in values)])
