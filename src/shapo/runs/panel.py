"""What a person sees while a run goes on: a live panel on a terminal, sparse plain lines elsewhere."""

import contextlib
import sys
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from shapo.experiment import Experiment
from shapo.runs.keyboard import without_marks

SECONDS_BETWEEN_LINES = 10.0
SPARKS = "▁▂▃▄▅▆▇█"


class Among(NamedTuple):
    """Which of several runs, one after the other, is seen."""

    number: int
    """From 1."""
    count: int
    name: str
    seconds_left: Callable[[Mapping[str, float]], float]
    """Until all are done, given this one's latest row."""


class LivePanel:
    """A panel that is redrawn in place, a few times a second and after every iteration."""

    def __init__(self, experiment: Experiment, console: Console, among: Among | None = None):
        self._experiment = experiment
        self._among = among
        self._returns: list[float] = []
        self._costs: list[float] = []
        self._row: Mapping[str, float] | None = None
        self._place = f"run {among.number} of {among.count}" if among else None
        self._begun = time.monotonic()
        self._open = contextlib.ExitStack()
        self._live = Live(console=console, get_renderable=self._drawn, refresh_per_second=4)

    def __enter__(self) -> "LivePanel":
        self._begun = time.monotonic()
        self._open.enter_context(without_marks())
        self._open.enter_context(self._live)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def __call__(self, row: Mapping[str, float]) -> None:
        """Show one iteration."""
        self._returns.append(row["reward/episode"])
        self._costs.append(_first(row, "cost/episode"))
        self._row = row
        if among := self._among:
            left = _clock(among.seconds_left(row))
            self._place = f"run {among.number} of {among.count} · {left} left in all"
        self._live.refresh()

    def _drawn(self) -> Panel:
        choice = self._experiment
        title = f"[bold]{choice.env}[/] · {choice.algo} · {choice.gradient} · seed {choice.seed}"
        return Panel(
            self._waiting() if self._row is None else self._numbers(self._row),
            title=title,
            subtitle=self._place,
        )

    def _waiting(self) -> Text:
        waited = _clock(time.monotonic() - self._begun)
        return Text(f"starting the environments and compiling … {waited}", style="dim")

    def _numbers(self, row: Mapping[str, float]) -> Group:
        total, done = self._experiment.iterations, int(row["iteration"]) + 1
        bar = Table.grid(padding=(0, 2))
        bar.add_row(
            ProgressBar(total=total, completed=done, width=18),
            f"{done}/{total}   {int(row['steps']):,} steps",
            f"{row['time/steps_per_second']:,.0f} steps/s",
            f"{_clock(time_left(row, total))} left",
        )
        numbers = Table.grid(padding=(0, 3))
        numbers.add_row(
            "return", f"{row['reward/episode']:.2f}", Text(sparkline(self._returns), style="cyan")
        )
        cost, limit = _first(row, "cost/episode"), _first(row, "cost/limit")
        style = "red" if cost > limit else "green"
        numbers.add_row(
            "cost",
            Text(f"{cost:.2f} of {limit:g}", style=style),
            Text(sparkline(self._costs), style=style),
        )
        numbers.add_row(
            "cost rate",
            f"{_first(row, 'cost/rate'):.4f}",
            f"total {_first(row, 'cost/total'):,.0f}   80 % ≤ {_first(row, 'cost/p80'):.1f}"
            f"   95 % ≤ {_first(row, 'cost/p95'):.1f}",
        )
        numbers.add_row(
            "episode",
            f"{row['episode/length']:.0f} steps",
            f"{int(row['termination/total']):,} terminated",
        )
        numbers.add_row("policy", *_columns(row, _POLICY))
        if "gradient/kl" in row:
            numbers.add_row("SHAPO", *_columns(row, _SHAPO))
        numbers.add_row("time", *_shares(row))
        return Group(bar, Text(), numbers, Text(), *_legend(row))


_POLICY = {
    "policy/multiplier": "λ",
    "policy/kl": "KL",
    "policy/fraction": "fraction",
    "statistics/kl": "drift",
}
_SHAPO = {
    "gradient/kl": "KL",
    "gradient/cosine": "cos",
    "gradient/alpha": "α",
    "gradient/increase": "rise",
}
_TIMES = {
    "time/wait": "waiting",
    "time/actor": "policy",
    "time/critics": "critics",
    "time/rest": "files",
}
_NEAR_ONE = ("gradient/cosine",)
"""How far it is from 1 is what it says."""
_MEANINGS = {
    "policy/fraction": "fraction of the step taken",
    "statistics/kl": "drift: KL by new observation statistics",
    "gradient/cosine": "cos of plain and SHAPO gradient (1: no effect)",
    "gradient/increase": "rise: loss there minus here",
}


def _shares(row: Mapping[str, float]) -> tuple[str, str]:
    """Where the time of an iteration goes."""
    spent = {label: row[name] for name, label in _TIMES.items() if name in row}
    whole = sum(spent.values()) or 1.0
    shares = "  ".join(f"{label} {seconds / whole:.0%}" for label, seconds in spent.items())
    return f"{whole:.2f} s", shares


def _legend(row: Mapping[str, float]) -> list[Text]:
    """What the words in the panel mean, two to a line."""
    said = [meaning for name, meaning in _MEANINGS.items() if name in row]
    pairs = [said[i : i + 2] for i in range(0, len(said), 2)]
    return [Text(" · ".join(pair), style="dim") for pair in pairs]


_LINE = (
    "iteration",
    "steps",
    "reward/episode",
    "cost/episode",
    "cost/limit",
    "cost/rate",
    "policy/multiplier",
    "time/steps_per_second",
)


class PlainLines:
    """One line of key=value pairs every few seconds, for logs and pipes."""

    def __init__(self, experiment: Experiment, out: TextIO, among: Among | None = None):
        self._iterations = experiment.iterations
        self._among = among
        self._out = out
        self._last = -SECONDS_BETWEEN_LINES

    def __enter__(self) -> "PlainLines":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, row: Mapping[str, float]) -> None:
        """Print one iteration, unless the last line is too recent."""
        now = time.monotonic()
        if now - self._last < SECONDS_BETWEEN_LINES and row["iteration"] + 1 < self._iterations:
            return
        self._last = now
        pairs = [f"{name}={row[name]:.8g}" for name in _LINE if name in row]
        pairs.append(f"seconds_left={time_left(row, self._iterations):.0f}")
        if among := self._among:
            pairs[:0] = [f"run={among.number}/{among.count}", f"name={among.name}"]
            pairs.append(f"seconds_left_in_all={among.seconds_left(row):.0f}")
        print(*pairs, file=self._out, flush=True)


def screen(experiment: Experiment, among: Among | None = None) -> "LivePanel | PlainLines":
    """What suits standard output: a context manager, called with each row."""
    if sys.stdout.isatty():
        return LivePanel(experiment, Console(), among)
    return PlainLines(experiment, sys.stdout, among)


def progress(
    experiment: Experiment, quiet: bool
) -> "LivePanel | PlainLines | contextlib.nullcontext[None]":
    """What suits a training that was begun in Python: as `screen`, but nothing where nobody looks."""
    if quiet or not (sys.stdout.isatty() or Console().is_jupyter):
        return contextlib.nullcontext()
    return screen(experiment)


def time_left(row: Mapping[str, float], iterations: int) -> float:
    """Seconds until the end at the pace of this iteration."""
    done = row["iteration"] + 1
    seconds_per_iteration = row["steps"] / done / row["time/steps_per_second"]
    return (iterations - done) * seconds_per_iteration


def sparkline(values: list[float], width: int = 40) -> str:
    """The last values as a row of little bars."""
    shown = [v for v in values[-width:] if v == v]
    if not shown:
        return ""
    low, high = min(shown), max(shown)
    steps = len(SPARKS) - 1
    return "".join(
        SPARKS[round((v - low) / (high - low) * steps) if high > low else 0] for v in shown
    )


def _first(row: Mapping[str, float], name: str) -> float:
    """The column, or the first of several costs'."""
    return row[name] if name in row else row[f"{name}_1"]


def _columns(row: Mapping[str, float], names: Mapping[str, str]) -> tuple[str, str]:
    shown = [
        f"{label} {row[name]:{'.5f' if name in _NEAR_ONE else '.3g'}}"
        for name, label in names.items()
        if name in row
    ]
    return (shown[0] if shown else "", "   ".join(shown[1:]))


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
