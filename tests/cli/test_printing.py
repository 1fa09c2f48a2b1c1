"""Lists and prose on terminals and in pipes."""

import sys

from shapo.cli.printing import print_columns, print_prose

ROWS = [
    ("id", "obs", "about"),
    ("SafetyPointGoal1-v0", "60", "Point reaches goals among 8 hazards, 1 vase"),
]


def narrow(monkeypatch, columns=50):
    """A terminal of so many columns."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))


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


def test_a_name_longer_than_its_column_stands_whole_on_a_line_of_its_own(capsys, monkeypatch):
    narrow(monkeypatch)
    name = "runs/" + "x" * 40
    print_columns(
        [("run", "steps", "state"), (name, "100", "finished"), ("runs/a", "20", "13%")], right=(1,)
    )
    above, *below = capsys.readouterr().out.splitlines()[1:]
    assert above == name
    assert [line.split() for line in below] == [["100", "finished"], ["runs/a", "20", "13%"]]
    assert below[0].index("finished") == below[1].index("13%")


def test_no_word_is_lost_at_any_width(capsys, monkeypatch):
    row = (
        "curves-pointbutton1",
        "Figure 15",
        "Learning curves",
        "8 configurations × 5 seeds, 400M steps",
    )
    for columns in range(60, 100):
        narrow(monkeypatch, columns)
        print_columns([row, ("runtime", "left out of the paper", "", "no runs")])
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= columns
        assert sorted(" ".join(lines).split()) == sorted(
            " ".join([*row, "runtime left out of the paper no runs"]).split()
        )


def test_prose_is_as_wide_as_the_terminal(capsys, monkeypatch):
    text = "a word and another " * 10
    print_prose(text)
    assert capsys.readouterr().out == f"{text.rstrip()}\n"
    narrow(monkeypatch)
    print_prose(f"{text}\nthe end")
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "the end" and 40 < max(map(len, lines)) <= 50
