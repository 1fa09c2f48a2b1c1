"""What a person sees while a run goes on: a live panel on a terminal, sparse plain lines elsewhere."""

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
    """A panel that is redrawn in place after every iteration."""

    def __init__(self, experiment: Experiment, console: Console, among: Among | None = None):
        self._experiment = experiment
        self._among = among
        self._returns: list[float] = []
        self._costs: list[float] = []
        self._live = Live(self._waiting(), console=console, refresh_per_second=4)

    def __enter__(self) -> "LivePanel":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __call__(self, row: Mapping[str, float]) -> None:
        """Show one iteration."""
        self._returns.append(row["reward/episode"])
        self._costs.append(_first(row, "cost/episode"))
        self._live.update(self._panel(row))

    def _waiting(self) -> Panel:
        return Panel(
            Text("starting the environments and compiling …", style="dim"),
            title=self._title(),
            subtitle=self._place(),
        )

    def _title(self) -> str:
        choice = self._experiment
        return f"[bold]{choice.env}[/] · {choice.algo} · {choice.gradient} · seed {choice.seed}"

    def _place(self, row: Mapping[str, float] | None = None) -> str | None:
        if self._among is None:
            return None
        left = f" · {_clock(self._among.seconds_left(row))} left in all" if row else ""
        return f"run {self._among.number} of {self._among.count}{left}"

    def _panel(self, row: Mapping[str, float]) -> Panel:
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
        return Panel(Group(bar, Text(), numbers), title=self._title(), subtitle=self._place(row))


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
    shown = [f"{label} {row[name]:.3g}" for name, label in names.items() if name in row]
    return (shown[0] if shown else "", "   ".join(shown[1:]))


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
