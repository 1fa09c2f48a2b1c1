"""What a person sees on a terminal while a run goes on: a panel that is redrawn in place."""

import contextlib
import math
import time
from collections.abc import Mapping

from rich.columns import Columns
from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from shapo.experiment import Experiment
from shapo.runs.keyboard import without_marks
from shapo.runs.lines import Among, signals, time_left
from shapo.words import or_dash

SPARKS = "▁▂▃▄▅▆▇█"


class LivePanel:
    """A panel that is redrawn in place, a few times a second and after every iteration."""

    def __init__(self, experiment: Experiment, console: Console, among: Among | None = None):
        self._experiment = experiment
        self._among = among
        self._returns: list[float] = []
        self._costs: dict[str, list[float]] = {}
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
        # An empty panel tells nothing to whoever reads why it ended.
        self._live.transient = self._row is None
        self._open.close()

    def __call__(self, row: Mapping[str, float]) -> None:
        """Show one iteration."""
        self._returns.append(row["reward/episode"])
        for each in signals(row):
            self._costs.setdefault(each, []).append(row[f"cost/episode{each}"])
        self._row = row
        if (among := self._among) and self._knows_pace:
            left = _clock(among.seconds_left(row))
            self._place = f"run {among.number} of {among.count} · {left} left in all"
        self._live.refresh()

    @property
    def _knows_pace(self) -> bool:
        """The first iteration compiles, so the second is the first to tell how long the rest may take."""
        return len(self._returns) > 1

    def _drawn(self) -> Panel:
        choice = self._experiment
        rest = f" · {choice.algo} · {choice.gradient} · seed {choice.seed}"
        title = Text.assemble((choice.env, "bold"), rest)  # names may have brackets: no markup
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
            f"{_clock(time_left(row, total))} left" if self._knows_pace else "compiling included",
        )
        numbers = Table.grid(padding=(0, 3))
        numbers.add_row(
            "return", or_dash(row["reward/episode"]), Text(sparkline(self._returns), style="cyan")
        )
        for each in signals(row):
            number = each.replace("_", " ")
            cost, limit = row[f"cost/episode{each}"], row[f"cost/limit{each}"]
            style = "red" if cost > limit else "green"
            numbers.add_row(
                f"cost{number}",
                Text(f"{or_dash(cost)} of {limit:g}", style=style),
                Text(sparkline(self._costs[each]), style=style),
            )
            numbers.add_row(
                f"cost rate{number}",
                f"{row[f'cost/rate{each}']:.4f}",
                f"total {row[f'cost/total{each}']:,.0f}   80 % ≤ {or_dash(row[f'cost/p80{each}'], '.1f')}"
                f"   95 % ≤ {or_dash(row[f'cost/p95{each}'], '.1f')}",
            )
        numbers.add_row(
            "episode",
            f"{or_dash(row['episode/length'], '.0f')} steps",
            f"{int(row['termination/total']):,} terminated",
        )
        numbers.add_row("policy", *_columns(row, _POLICY))
        if "gradient/kl" in row:
            numbers.add_row("SHAPO", *_columns(row, _SHAPO))
        numbers.add_row("time", *_shares(row))
        return Group(bar, Text(), numbers, Text(), _legend(row))


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
    "cost/p95": "≤: cost of the last 50 episodes",
    "policy/multiplier": "λ: price of a cost",
    "policy/fraction": "fraction of the step taken",
    "statistics/kl": "drift: KL by observation statistics",
    "gradient/cosine": "cos to the plain slope (1: no effect)",
    "gradient/alpha": "α: tail probability",
    "gradient/increase": "rise: loss there minus here",
    "time/wait": "waiting for the environments",
}
_OF_NO_EPISODE = "–: no episode has ended yet"


def _shares(row: Mapping[str, float]) -> tuple[str, str]:
    """Where the time of an iteration goes."""
    spent = {label: row[name] for name, label in _TIMES.items() if name in row}
    whole = sum(spent.values()) or 1.0
    shares = "  ".join(f"{label} {seconds / whole:.0%}" for label, seconds in spent.items())
    return f"{whole:.2f} s", shares


def _legend(row: Mapping[str, float]) -> Columns:
    """What the words in the panel mean."""
    none = [_OF_NO_EPISODE] if math.isnan(row["reward/episode"]) else []
    said = none + [meaning for name, meaning in _MEANINGS.items() if _values(row, name)]
    return Columns([Text(each, style="dim") for each in said], padding=(0, 3))


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


def _columns(row: Mapping[str, float], names: Mapping[str, str]) -> tuple[str, str]:
    form = {name: ".5f" if name in _NEAR_ONE else ".3g" for name in names}
    shown = [
        f"{label} {', '.join(f'{value:{form[name]}}' for value in values)}"
        for name, label in names.items()
        if (values := _values(row, name))
    ]
    return (shown[0] if shown else "", "   ".join(shown[1:]))


def _values(row: Mapping[str, float], name: str) -> list[float]:
    """What the row says under a name, once or for each of several costs; nothing where it does not."""
    return [row[name + each] for each in dict.fromkeys(["", *signals(row)]) if name + each in row]


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
