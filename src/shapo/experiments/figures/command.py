"""`shapo figure`: says what a figure needs, can run it, and draws it from what there is."""

import argparse
import difflib
from collections.abc import Sequence
from pathlib import Path

import matplotlib

from shapo.experiments import style
from shapo.experiments.arguments import Arguments, count
from shapo.experiments.figures.figure import (
    ASSUMED_SPEED,
    Figure,
    Need,
    Result,
    gather,
    need,
    provenance,
)
from shapo.experiments.figures.registry import FIGURES
from shapo.experiments.table import Runs, read_runs

EXAMPLES = """examples:
  shapo figure list                                      every figure, and what it needs
  shapo figure gaussian-gradients schedule-curves        drawn at once: they need no run
  shapo figure main --runs runs                          drawn from the runs there are
  shapo figure runtime --run --steps 1e6 --seeds 2       a smaller version, trained first
"""


class NothingToDraw(Exception):
    """None of the runs that a figure needs is there yet."""


def main(argv: Sequence[str] | None = None) -> None:
    """Draw the figures named on the command line."""
    options = _parser().parse_args(argv)
    chosen = _chosen(options.names)
    if "list" in options.names:
        print("\n".join(f"{_line(figure):74} {_wants(figure)}" for figure in FIGURES.values()))
        return
    found = _read(options.runs)
    if options.run:
        _train(chosen, options, found)
        found = _read(options.runs)
    for folder, reason in found.skipped:
        print(f"skipped {folder}: {reason}")
    empty = [figure.name for figure in chosen if not _draw(figure, options, found)]
    if empty:
        raise NothingToDraw(
            f"not drawn, because none of their runs is in {options.runs}: {', '.join(empty)}; "
            "add --run to train them"
        )


def _train(chosen: Sequence[Figure], options: argparse.Namespace, found: Runs) -> None:
    """Train all that the chosen figures lack, as one sweep; many figures share runs."""
    from shapo.experiments import sweep

    lacking = [_need(figure, _results(figure, options, found), options, found) for figure in chosen]
    missing = list(dict.fromkeys(experiment for need in lacking for experiment in need.missing))
    if missing:
        sweep.run(missing, options.runs, engine="local")


def _draw(figure: Figure, options: argparse.Namespace, found: Runs) -> bool:
    """Draw one figure; False if there is nothing to draw it from."""
    print(_line(figure))
    results = _results(figure, options, found)
    _explain(_need(figure, results, options, found))
    if results and not any(result.runs for result in results):
        return False
    paths = save(figure, _cut(results), options.out)
    print(f"  drawn: {', '.join(map(str, paths))}")
    return True


def _results(figure: Figure, options: argparse.Namespace, found: Runs) -> list[Result]:
    arms = figure.arms()
    if options.steps is not None:
        arms = [arm.with_steps(options.steps) for arm in arms]
    return gather(arms, found.runs)


def _need(
    figure: Figure, results: Sequence[Result], options: argparse.Namespace, found: Runs
) -> Need:
    return need(results, found.runs, options.seeds or figure.seeds)


def save(figure: Figure, results: Sequence[Result], out: Path) -> list[Path]:
    """Draw a figure, write in its margin what it rests on, and save it in every format."""
    matplotlib.use("agg")
    with style.house_style():
        picture = figure.draw(results)
        if results:
            style.margin_note(picture, provenance(figure, results))
        return style.save(picture, out, figure.name)


def _cut(results: list[Result]) -> list[Result]:
    """Runs longer than asked for, as they stood then: all points of a picture are of one age."""
    return [Result(arm, [run.until(arm.experiment.steps) for run in runs]) for arm, runs in results]


def _read(folder: Path) -> Runs:
    return read_runs(folder) if folder.is_dir() else Runs([], [])


def _explain(lack: Need) -> None:
    total = lack.complete + len(lack.missing)
    if not total:
        return
    print(f"  needs {total} runs: {lack.complete} complete, {len(lack.missing)} missing")
    if lack.missing:
        basis = "as measured" if lack.measured else f"assuming {ASSUMED_SPEED:,.0f} steps/s"
        print(
            f"  the missing ones would take {_duration(lack.seconds)} one after another ({basis})"
        )


def _duration(seconds: float) -> str:
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} seconds"


def _line(figure: Figure) -> str:
    return f"{figure.name:20} {figure.item:10} {figure.title}"


def _wants(figure: Figure) -> str:
    arms = figure.arms()
    steps = figure.seeds * sum(arm.experiment.steps for arm in arms)
    runs = f"{len(arms)} configurations × {figure.seeds} seeds, {steps / 1e6:,.0f}M steps"
    return runs if arms else "no runs"


def _chosen(names: Sequence[str]) -> list[Figure]:
    if "all" in names:
        return list(FIGURES.values())
    for name in names:
        if name not in FIGURES and name != "list":
            near = difflib.get_close_matches(name, FIGURES, n=1)
            hint = f"did you mean {near[0]}?" if near else "`shapo figure list` shows them all"
            raise ValueError(f"no figure is called {name!r}; {hint}")
    return [FIGURES[name] for name in names if name != "list"]


def _parser() -> Arguments:
    parser = Arguments("shapo figure", "Draw figures and tables of the paper.", EXAMPLES)
    add = parser.add_argument
    add("names", nargs="+", metavar="NAME", help="figures to draw, `all` or `list`")
    add("--runs", default="runs", type=Path, help="folder that holds the runs [runs]")
    add("--out", default="figures", type=Path, help="folder for the pictures [figures]")
    add("--run", action="store_true", default=False, help="first train what is missing")
    add("--steps", type=count, default=None, help="length of a run, not the paper's")
    add("--seeds", type=count, default=None, help="seeds per configuration, not the paper's")
    return parser
