"""Making figures: say what each needs, train what is missing if asked, and draw from what there is."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

from shapo.experiments import style
from shapo.experiments.figures import tags
from shapo.experiments.figures.figure import (
    ASSUMED_SPEED,
    SEEDS,
    Figure,
    Need,
    Result,
    at_radius,
    drawable_steps,
    gather,
    need,
    provenance,
)
from shapo.experiments.figures.registry import FIGURES
from shapo.runs.absent import no_folder
from shapo.runs.reading import Runs, read_runs
from shapo.words import BadInput, counted, duration_text, nearest, printable

if TYPE_CHECKING:
    from shapo.experiments.sweep import Outcome


class NothingToDraw(Exception):
    """None of the runs that a figure needs is there yet."""


@dataclass(frozen=True)
class Order:
    """What is wanted of the figures."""

    runs: Sequence[Path]
    """Folders of runs, or archives; what is trained goes to the first."""
    out: Path
    """The folder for the pictures."""
    train: bool = False
    """First train what is missing."""
    steps: int | None = None
    """Length of a run; None: the paper's."""
    seeds: int | None = None
    """Seeds per configuration; None: the paper's."""
    pessimism: float | None = None
    """SHAPO's radius where a figure compares no radii; None: as published."""


def listing() -> list[tuple[str, ...]]:
    """Every figure: its name, where it is in the paper, what it shows, and what it needs."""
    return [(figure.name, figure.item, figure.title, _wants(figure)) for figure in FIGURES.values()]


def make(names: Sequence[str], order: Order) -> None:
    """Draw the figures of these names, telling what each rests on; `all` stands for every one."""
    chosen = _chosen(names)
    if order.pessimism is not None:
        _require_a_radius(chosen, order.pessimism)
    found = _read(order.runs)
    trained = None
    if order.train:
        trained = _train(chosen, order, found)
        found = _read(order.runs)
    for folder, reason in found.skipped:
        print(printable(f"skipped {folder}: {reason}"))
    empty = [figure.name for figure in chosen if not _draw(figure, order, found)]
    if trained:
        trained.require_all()
    if empty:
        there = [str(place) for place in _there(order.runs)]
        why = (
            f"none of their runs is in {', '.join(there)} at this length"
            if there
            else no_folder(order.runs[0])
        )
        raise NothingToDraw(
            f"not drawn: {', '.join(empty)}; {why}; "
            "--run trains them first, --steps draws shorter ones (in Python, train and steps of the Order)"
        )


def _require_a_radius(chosen: Sequence[Figure], radius: float) -> None:
    """Raise BadInput if none of the figures would be another one with it."""
    if all(at_radius(arms, radius) == arms for arms in (figure.arms() for figure in chosen)):
        names = ", ".join(figure.name for figure in chosen)
        raise BadInput(
            f"pessimism {radius:g} changes nothing in {names}: it is as published there, or radii are what is compared"
        )


def _train(chosen: Sequence[Figure], order: Order, found: Runs) -> "Outcome | None":
    """Train all that the chosen figures lack, as one sweep; many figures share runs."""
    from shapo.experiments import sweep

    into = order.runs[0]
    if into.is_file():
        raise BadInput(
            f"{into} is a file; what is trained goes to the first place of runs, which must be a folder"
        )
    lacking = [_need(_results(figure, order, found), order, found) for figure in chosen]
    missing = list(dict.fromkeys(experiment for need in lacking for experiment in need.missing))
    return sweep.run(missing, into, engine="local") if missing else None


def _draw(figure: Figure, order: Order, found: Runs) -> bool:
    """Draw one figure; False if there is nothing to draw it from."""
    print(_line(figure))
    results = _results(figure, order, found)
    _explain(_need(results, order, found))
    for result in results:
        for run, _, reason in result.left_out:
            print(printable(f"  left out: {run.folder}: {reason}"))
    if results and not any(result.runs for result in results):
        if (steps := drawable_steps(results)) is not None:
            print(
                f"  the runs there are of another length: steps={steps}, or --steps {steps}, draws them"
            )
        return False
    paths = save(figure, results, order.out)
    print(f"  drawn: {', '.join(map(str, paths))}")
    return True


def _results(figure: Figure, order: Order, found: Runs) -> list[Result]:
    arms = figure.arms()
    if order.steps is not None:
        arms = [arm.with_steps(order.steps) for arm in arms]
    if order.pessimism is not None:
        arms = at_radius(arms, order.pessimism)
    return gather(arms, found.runs)


def _need(results: Sequence[Result], order: Order, found: Runs) -> Need:
    return need(results, found.runs, order.seeds or SEEDS)


def save(figure: Figure, results: Sequence[Result], out: Path) -> list[Path]:
    """Draw a figure, write in its margin what it rests on, and save it in every format."""
    matplotlib.use("agg")
    with style.house_style():
        picture = figure.draw(results)
        if results:
            style.margin_note(picture, provenance(figure, results))
        tags.keep_apart(picture)
        return style.save(picture, out, figure.name)


def _read(places: Sequence[Path]) -> Runs:
    found = _there(places)
    return read_runs(*found) if found else Runs([], [])


def _there(places: Sequence[Path]) -> list[Path]:
    """Without the first, for what is trained, as long as nothing is."""
    return [place for place in places if place.exists() or place is not places[0]]


def _explain(lack: Need) -> None:
    total = lack.complete + len(lack.missing)
    if not total:
        return
    print(f"  needs {counted(total, 'run')}: {lack.complete} complete, {len(lack.missing)} missing")
    if lack.missing:
        basis = "as measured" if lack.measured else f"assuming {ASSUMED_SPEED:,.0f} steps/s"
        long = duration_text(lack.seconds, ".1f")
        print(f"  the missing ones would take {long} one after another ({basis})")


def _line(figure: Figure) -> str:
    return f"{figure.name:20} {figure.item:10} {figure.title}"


def _wants(figure: Figure) -> str:
    arms = figure.arms()
    steps = SEEDS * sum(arm.experiment.steps for arm in arms)
    runs = f"{len(arms)} configurations × {SEEDS} seeds, {steps / 1e6:,.0f}M steps"
    return runs if arms else "no runs"


def _chosen(names: Sequence[str]) -> list[Figure]:
    if "all" in names:
        return list(FIGURES.values())
    for name in names:
        if name not in FIGURES:
            hint = nearest(name, FIGURES) or "; `shapo figure list` shows them all"
            raise BadInput(f"no figure is called {name!r}{hint}")
    return [FIGURES[name] for name in names]
