"""Lists and prose on terminals and in pipes."""

import sys

from shapo.cli.printing import print_columns

ROWS = [
    ("id", "obs", "about"),
    ("SafetyPointGoal1-v0", "60", "Point reaches goals among 8 hazards, 1 vase"),
]


def narrow(monkeypatch):
    """A terminal of fifty columns."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setenv("TERM", "xterm")


def test_a_pipe_gets_whole_lines(capsys):
    print_columns(ROWS, right=(1,))
    assert capsys.readouterr().out.splitlines() == [
        "id                   obs  about",
        "SafetyPointGoal1-v0   60  Point reaches goals among 8 hazards, 1 vase",
    ]


def test_what_is_too_wide_for_a_terminal_goes_on_in_its_column(capsys, monkeypatch):
    narrow(monkeypatch)
    print_columns(ROWS, right=(1,))
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "id                   obs  about",
        "SafetyPointGoal1-v0   60  Point reaches goals",
        "                          among 8 hazards, 1 vase",
    ]


def test_a_word_longer_than_the_terminal_is_shown_whole_all_the_same(capsys, monkeypatch):
    narrow(monkeypatch)
    print_columns([("runs/" + "x" * 70, "100", "finished")])
    text = capsys.readouterr().out
    assert text.count("x") == 70 and "100" in text and "finished" in text
