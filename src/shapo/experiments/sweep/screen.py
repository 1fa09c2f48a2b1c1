"""What a person sees of a sweep: a line per running run, redrawn on a terminal and printed now and then elsewhere."""

import contextlib
import time
from collections.abc import Mapping, Sequence
from typing import Protocol

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from shapo.experiments.sweep.engine import Failure, Row
from shapo.experiments.sweep.naming import LONGEST
from shapo.experiments.sweep.plan import Job, Plan
from shapo.runs.keyboard import without_marks
from shapo.words import counted, printable

SECONDS_BETWEEN_LINES = 10.0
STOPPING = "stopping: the runs close their files …"
ROWS = 40
"""Of the table before the start; of a longer grid the first ones and the last are shown."""


class Screen(Protocol):
    """Whoever is told how a sweep goes; a context manager."""

    console: Console

    def begun(self, job: Job) -> None:
        """A run goes on now."""
        ...

    def advanced(self, job: Job, row: Row) -> None:
        """A run has made an iteration."""
        ...

    def ended(self, job: Job, failure: Failure | None, again: bool) -> None:
        """A run is finished, or failed and will be tried `again` or not."""
        ...

    def show(self, counts: Mapping[str, int], seconds_left: float | None) -> None:
        """How many runs are in which state, and how long the rest may take."""
        ...

    def stopping(self) -> None:
        """Somebody wants to leave, and the runs that go on must close their files first."""
        ...

    def __enter__(self) -> "Screen": ...

    def __exit__(self, *_: object) -> None: ...


def screen() -> Screen:
    """What suits standard output."""
    console = wide_console()
    return LiveLines(console) if console.is_terminal else PlainLines(console)


def wide_console() -> Console:
    """Standard output; where it is no terminal nobody wants names cut to fit 80 columns."""
    console = Console(soft_wrap=True)
    return console if console.is_terminal else Console(soft_wrap=True, width=LONGEST + 60)


class LiveLines:
    """Lines that are redrawn in place."""

    def __init__(self, console: Console):
        self.console = console
        self._running: dict[str, tuple[Job, Row]] = {}
        self._open = contextlib.ExitStack()
        self._live = Live(console=console, refresh_per_second=4)

    def __enter__(self) -> "LiveLines":
        self._open.enter_context(without_marks())
        self._open.enter_context(self._live)
        return self

    def __exit__(self, *_: object) -> None:
        self._live.update(Text())
        self._open.close()

    def begun(self, job: Job) -> None:
        self._running[job.name] = job, {}

    def advanced(self, job: Job, row: Row) -> None:
        self._running[job.name] = job, row

    def ended(self, job: Job, failure: Failure | None, again: bool) -> None:
        self._running.pop(job.name, None)
        self.console.print(_end_line(job, failure, again), markup=False, highlight=False)

    def show(self, counts: Mapping[str, int], seconds_left: float | None) -> None:
        lines = Table.grid(padding=(0, 2))
        lines.add_column(overflow="fold")  # its end says which run it is
        for _ in range(3):
            lines.add_column(no_wrap=True)
        for job, row in self._running.values():
            total = job.experiment.iterations
            lines.add_row(
                Text(printable(job.name)),
                ProgressBar(total=total, completed=job.done, width=8),
                f"{job.done}/{total}",
                _numbers(row),
            )
        self._live.update(Group(lines, Text(_headline(counts, seconds_left), style="bold")))

    def stopping(self) -> None:
        self._live.update(Text(STOPPING, style="bold"), refresh=True)


class PlainLines:
    """A line when a run starts or ends, and now and then in between, for logs and pipes."""

    def __init__(self, console: Console):
        self.console = console
        self._last: dict[str, float] = {}

    def __enter__(self) -> "PlainLines":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def begun(self, job: Job) -> None:
        self._say(f"{job.name} {'continues' if job.done else 'starts'}")

    def advanced(self, job: Job, row: Row) -> None:
        if self._due(job.name):
            self._say(f"{job.name} {job.done}/{job.experiment.iterations} {_numbers(row)}")

    def ended(self, job: Job, failure: Failure | None, again: bool) -> None:
        self._say(_end_line(job, failure, again))

    def show(self, counts: Mapping[str, int], seconds_left: float | None) -> None:
        if self._due(""):
            self._say(_headline(counts, seconds_left))

    def stopping(self) -> None:
        self._say(STOPPING)

    def _due(self, name: str) -> bool:
        now = time.monotonic()
        due = now - self._last.get(name, float("-inf")) >= SECONDS_BETWEEN_LINES
        if due:
            self._last[name] = now
        return due

    def _say(self, line: str) -> None:
        self.console.print(line, markup=False, highlight=False)


def plan_table(planned: Plan) -> RenderableType:
    """The runs to come, and what is known of them."""
    jobs = planned.jobs
    state = lambda job: (
        "finished" if job.finished
        else f"continues at {job.done}/{job.experiment.iterations}" if job.done
        else "new"
    )  # fmt: skip
    title = Text(printable(f"{_count(jobs)}, each a folder in {jobs[0].folder.parent}/"))
    table = Table(box=box.SIMPLE, title=title, title_justify="left")
    for heading in ("run", "steps", "seed", "state"):
        numeric = heading in ("steps", "seed")
        table.add_column(heading, justify="right" if numeric else "left", overflow="fold")
    shown = jobs if len(jobs) <= ROWS else [*jobs[: ROWS - 1], jobs[-1]]
    for job in shown:
        if job is jobs[-1] and len(shown) < len(jobs):
            table.add_row(f"… {len(jobs) - ROWS} more …")
        choice = job.experiment
        table.add_row(Text(printable(job.name)), f"{choice.steps:,}", str(choice.seed), state(job))
    return Group(table, *(Text(note, style="yellow") for note in planned.notes))


def summary(finished: Sequence[Job], failed: Sequence[tuple[Job, Failure]]) -> RenderableType:
    """What came of the sweep."""
    lines = [
        Text(
            f"{len(finished)} of {counted(len(finished) + len(failed), 'run')} finished",
            style="bold",
        )
    ]
    lines += [
        Text(printable(f"failed: {job.name}: {failure.reason}"), style="red")
        for job, failure in failed
    ]
    return Group(*lines)


def _count(jobs: Sequence[Job]) -> str:
    finished, begun = sum(job.finished for job in jobs), sum(job.done > 0 for job in jobs)
    parts = [counted(len(jobs), "run"), f"{finished} finished", f"{begun - finished} begun"]
    return ", ".join(part for part in parts if not part.startswith("0 "))


def _end_line(job: Job, failure: Failure | None, again: bool) -> str:
    if failure is None:
        return f"{job.name} is finished"
    return printable(f"{job.name} {'is tried again' if again else 'failed'}: {failure.reason}")


def _numbers(row: Row) -> str:
    if not row:
        return "starting"
    cost = row.get("cost/episode", row.get("cost/episode_1", float("nan")))
    return (
        f"return {row['reward/episode']:.2f}  cost {cost:.2f}  "
        f"{row['time/steps_per_second']:,.0f} steps/s"
    )


def _headline(counts: Mapping[str, int], seconds_left: float | None) -> str:
    parts = [f"{number} {state}" for state, number in counts.items() if number]
    parts += [f"about {_clock(seconds_left)} left"] if seconds_left is not None else []
    return " · ".join(parts)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"
