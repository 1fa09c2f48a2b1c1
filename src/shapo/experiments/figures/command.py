"""`shapo figure`: says what a figure needs, can run it, and draws it from what there is."""

import argparse
import difflib
import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib

from shapo.experiments import style
from shapo.experiments.figures.figure import (
    ASSUMED_SPEED,
    Arm,
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
  shapo figure runtime --run --steps 1000000 --seeds 2   a smaller version, trained first
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Draw the figures named on the command line; returns the exit code."""
    options = _parser().parse_args(argv)
    try:
        names = _chosen(options.names)
        if options.seeds is not None and options.seeds < 1:
            raise ValueError(f"--seeds {options.seeds}: a figure needs at least one seed")
        if options.steps is not None and options.steps < 1:
            raise ValueError(f"--steps {options.steps}: give a positive number of steps")
        if "list" in options.names:
            print("\n".join(_line(figure) for figure in FIGURES.values()))
            return 0
        found = _read(options.runs)
        _explain_skipped(found)
        drawn = [_draw(FIGURES[name], options, found) for name in names]
    except ValueError as error:
        print(f"shapo figure: {error}", file=sys.stderr)
        return 2
    return 0 if all(drawn) else 1


def _draw(figure: Figure, options: argparse.Namespace, found: Runs) -> bool:
    """Draw one figure; False if there is nothing to draw it from."""
    seeds = options.seeds or figure.seeds
    arms = _scaled(figure.arms(), options.steps)
    results = gather(arms, found.runs)
    print(_line(figure))
    lack = need(results, found.runs, seeds)
    if lack.missing and options.run:
        from shapo.experiments import sweep

        print(f"  running {len(lack.missing)} runs into {options.runs}")
        sweep.run(lack.missing, options.runs, engine="local")
        found = _read(options.runs)
        results = gather(arms, found.runs)
        lack = need(results, found.runs, seeds)
    _explain(lack)
    if arms and not any(result.runs for result in results):
        print(
            f"  nothing to draw yet: none of its runs is in {options.runs}; add --run to make them"
        )
        return False
    paths = save(figure, _cut(results), Path(options.out))
    print(f"  drawn: {', '.join(map(str, paths))}")
    return True


def save(figure: Figure, results: Sequence[Result], out: Path) -> list[Path]:
    """Draw a figure, write in its margin what it rests on, and save it in every format."""
    matplotlib.use("agg")
    with style.house_style():
        picture = figure.draw(results)
        if results:
            style.margin_note(picture, provenance(figure, results))
        return style.save(picture, out, figure.name)


def _scaled(arms: list[Arm], steps: int | None) -> list[Arm]:
    if steps is None:
        return arms
    return [arm.with_steps(steps) for arm in arms]


def _cut(results: list[Result]) -> list[Result]:
    """Runs longer than asked for, as they stood then: all points of a picture are of one age."""
    return [Result(arm, [run.until(arm.experiment.steps) for run in runs]) for arm, runs in results]


def _read(folder: str) -> Runs:
    return read_runs(folder) if Path(folder).is_dir() else Runs([], [])


def _explain_skipped(found: Runs) -> None:
    for folder, reason in found.skipped:
        print(f"skipped {folder}: {reason}")


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


def _chosen(names: Sequence[str]) -> list[str]:
    if "all" in names:
        return list(FIGURES)
    for name in names:
        if name not in FIGURES and name != "list":
            near = difflib.get_close_matches(name, FIGURES, n=1)
            hint = f"did you mean {near[0]}?" if near else "`shapo figure list` shows them all"
            raise ValueError(f"no figure is called {name!r}; {hint}")
    return [name for name in names if name != "list"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="shapo figure",
        description="Draw a figure or table of the paper from the runs there are.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="+", metavar="NAME", help="figures to draw, `all` or `list`")
    parser.add_argument("--runs", default="runs", help="folder that holds the runs (runs)")
    parser.add_argument("--out", default="figures", help="folder for the pictures (figures)")
    parser.add_argument("--run", action="store_true", help="first train what is missing")
    parser.add_argument("--steps", type=int, help="length of a run, instead of the paper's")
    parser.add_argument("--seeds", type=int, help="seeds per configuration, instead of the paper's")
    return parser
