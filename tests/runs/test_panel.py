"""What a person sees of a run while it goes on."""

import builtins
import io
import os
import pty
import select
import signal
import subprocess
import sys
import termios

import pytest
from rich.console import Console

from shapo.experiment import Experiment
from shapo.runs.lines import Among, PlainLines, time_left
from shapo.runs.panel import LivePanel, sparkline
from shapo.runs.screen import progress

ROW = {
    "iteration": 0, "steps": 20_000, "episodes": 20, "reward/episode": 12.345, "cost/episode": 17.5,
    "cost/limit": 10.0,
    "cost/rate": 0.0175, "cost/total": 350.0, "cost/p80": 20.0, "cost/p95": 30.0, "episode/length": 1000.0,
    "termination/total": 3, "policy/multiplier": 0.5, "policy/kl": 0.019, "policy/fraction": 0.8,
    "statistics/kl": 1.25e-6, "gradient/kl": 2e-4, "gradient/cosine": 0.99962, "gradient/alpha": 0.03,
    "gradient/increase": 0.0042, "time/steps_per_second": 10_000.0,
    "time/wait": 0.5, "time/actor": 0.5, "time/critics": 0.9, "time/rest": 0.1,
}  # fmt: skip


@pytest.fixture
def console():
    return Console(width=80, record=True, file=io.StringIO(), force_terminal=True)


def test_the_panel_shows_what_matters(console):
    with LivePanel(Experiment(steps=60_000), console) as panel:
        panel(ROW)
        panel(ROW | {"iteration": 1, "steps": 40_000})
    text = console.export_text()
    for shown in (
        "12.35",
        "17.50 of 10",
        "0.0175",
        "λ 0.5",
        "KL 0.019",
        "10,000 steps/s",
        "0:02 left",
        "SHAPO",
        "cos 0.99962",
        "waiting 25%  policy 25%  critics 45%  files 5%",
        "≤: cost of the last 50 episodes",
        "λ: price of a cost",
        "fraction of the step taken",
        "drift: KL by observation statistics",
        "cos to the plain slope (1: no effect)",
        "rise: loss there minus here",
        "waiting for the environments",
    ):
        assert shown in text
    last = text[text.rindex("╭") :]
    assert max(map(len, last.splitlines())) <= 80


@pytest.mark.parametrize("env", ["m:f(a='[/x]')", "m:f(a='[red]')", "m:f(a=[1, 2])"])
def test_brackets_in_a_name_are_part_of_it(console, env):
    with LivePanel(Experiment(env=env), console) as panel:
        panel(ROW)
    assert f"{env} · trpo-pid · plain · seed 0" in console.export_text()


def of_two_costs() -> dict[str, float]:
    """The row, with a second cost that is above its limit."""
    costs = {name: value for name, value in ROW.items() if name.startswith("cost/")}
    row = {name: value for name, value in ROW.items() if name not in costs}
    second = costs | {"cost/episode": 6.5, "cost/limit": 4.0, "cost/rate": 0.0065}
    del row["policy/multiplier"]
    costs, second = costs | {"policy/multiplier": 0.5}, second | {"policy/multiplier": 0.25}
    for number, of_one in (("_1", costs), ("_2", second)):
        row |= {name + number: value for name, value in of_one.items()}
    return row


def test_each_of_several_costs_is_shown_beside_its_own_limit(console):
    with LivePanel(Experiment(steps=60_000, cost_limit=(10.0, 4.0)), console) as panel:
        panel(of_two_costs())
    text = console.export_text()
    assert "cost 1" in text and "17.50 of 10" in text and "0.0175" in text
    assert "cost 2" in text and "6.50 of 4" in text and "0.0065" in text
    assert "λ 0.5, 0.25" in text and "≤: cost of the last 50 episodes" in text
    lines = io.StringIO()
    PlainLines(Experiment(steps=60_000, cost_limit=(10.0, 4.0)), lines)(of_two_costs())
    assert (
        "cost/episode_1=17.5 cost/limit_1=10 cost/rate_1=0.0175 policy/multiplier_1=0.5 "
        "cost/episode_2=6.5 cost/limit_2=4 cost/rate_2=0.0065 policy/multiplier_2=0.25"
    ) in lines.getvalue()


def test_the_first_iteration_compiles_and_foretells_nothing(console):
    among = Among(1, 3, "first", seconds_left=lambda row: 600.0)
    with LivePanel(Experiment(steps=60_000), console, among) as panel:
        panel(ROW)
    text = console.export_text()
    assert "compiling included" in text and " left" not in text and "run 1 of 3" in text


def test_who_is_refused_sees_the_reason_and_no_empty_panel():
    file = io.StringIO()
    with LivePanel(Experiment(), Console(width=80, file=file, force_terminal=True)):
        pass
    erased = "\x1b[1A\x1b[2K" * 3
    assert erased in file.getvalue()


def test_words_that_are_not_shown_are_not_explained(console):
    with LivePanel(Experiment(steps=40_000), console) as panel:
        panel({name: value for name, value in ROW.items() if not name.startswith("gradient/")})
    text = console.export_text()
    assert "SHAPO" not in text and "rise" not in text and "drift" in text


def test_what_no_episode_has_told_yet_is_a_dash(console):
    untold = ("reward/episode", "cost/episode", "cost/p80", "cost/p95", "episode/length")
    with LivePanel(Experiment(steps=40_000), console) as panel:
        panel(ROW | dict.fromkeys(untold, float("nan")))
    text = console.export_text()
    assert "nan" not in text and "– of 10" in text and "no episode has ended yet" in text


def test_the_clock_runs_while_nothing_is_known_yet(console, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with LivePanel(Experiment(), console) as panel:
        now[0] += 83
        panel._live.refresh()
    assert "starting the environments and compiling … 1:23" in console.export_text()


class ZMQInteractiveShell:
    """What a notebook's kernel is called."""


def test_python_gets_a_panel_in_a_terminal_lines_in_a_notebook_and_else_nothing(
    monkeypatch, capsys
):
    shown = lambda quiet=False: type(progress(Experiment(), quiet)).__name__
    assert shown() == "nullcontext"
    with monkeypatch.context() as notebook:
        notebook.setattr(builtins, "get_ipython", ZMQInteractiveShell, raising=False)
        assert (shown(), shown(quiet=True)) == ("PlainLines", "nullcontext")
    assert capsys.readouterr().out == "starting the environments and compiling …\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert (shown(), shown(quiet=True)) == ("LivePanel", "nullcontext")


PROGRAM = """
import time
from rich.console import Console
from shapo.experiment import Experiment
from shapo.runs.panel import LivePanel
try:
    with LivePanel(Experiment(), Console()):
        print("drawn")
        time.sleep(60)
except KeyboardInterrupt:
    print("left")
"""


def in_a_terminal(program: str) -> tuple[subprocess.Popen, int, int]:
    """A process whose terminal is a new one, and both ends of that.

    It takes the terminal itself: done for it between fork and exec, beside JAX's threads, that may wait for ever.
    """
    ours, theirs = pty.openpty()
    takes = "import os; os.close(os.open(os.ttyname(0), os.O_RDWR))\n"
    process = subprocess.Popen(
        [sys.executable, "-c", takes + program],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    return process, ours, theirs


def read_until(word: bytes, terminal: int) -> bytes:
    """What is shown up to this word; we hold both ends, so one who died without it would be waited for in vain."""
    seen = b""
    while word not in seen:
        assert select.select([terminal], [], [], 60)[0], f"no {word!r} after {seen!r}"
        seen += os.read(terminal, 1 << 16)
    return seen


def test_ctrl_c_leaves_no_mark_in_the_panel():
    """A terminal writes ^C where its cursor is: at the end of the border, which is then drawn a line too low."""
    process, ours, theirs = in_a_terminal(PROGRAM)
    read_until(b"drawn", ours)
    os.write(ours, b"\x03")
    assert b"^C" not in read_until(b"left", ours)
    assert process.wait(10) == 0
    os.close(ours)
    os.close(theirs)


STUBBORN = """
import signal, time
from rich.console import Console
from shapo.cli.main import _interrupted
from shapo.experiment import Experiment
from shapo.runs.panel import LivePanel
from shapo.runs.stopping import sigterm_raises
signal.signal(signal.SIGINT, _interrupted)
with sigterm_raises(), LivePanel(Experiment(), Console()):
    try:
        print("drawn")
        time.sleep(60)
    finally:
        print("closing")
        time.sleep(60)
"""


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_who_is_told_twice_to_leave_puts_the_terminal_back(number, code):
    process, ours, theirs = in_a_terminal(STUBBORN)
    before = termios.tcgetattr(theirs)
    assert before[3] & termios.ECHOCTL
    seen = read_until(b"drawn", ours)
    assert not termios.tcgetattr(theirs)[3] & termios.ECHOCTL
    process.send_signal(number)
    seen += read_until(b"closing", ours)
    process.send_signal(number)
    assert process.wait(10) == code
    assert termios.tcgetattr(theirs) == before
    os.write(theirs, b"the end")
    seen += read_until(b"the end", ours)
    hidden, shown = b"\x1b[?25l", b"\x1b[?25h"
    assert -1 < seen.rfind(hidden) < seen.rfind(shown)
    os.close(ours)
    os.close(theirs)


def test_sparkline_and_time():
    assert (
        sparkline([0.0, 1.0, 2.0]) == "▁▅█"
        and sparkline([float("nan")]) == ""
        and sparkline([3.0]) == "▁"
    )
    assert time_left({"iteration": 4, "steps": 500, "time/steps_per_second": 50.0}, 10) == 10.0
