"""Lists and prose on terminals and in pipes."""

import sys

from shapo.cli.printing import print_columns, print_prose, print_table

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


TABLE = ("arm", "return", "difference of means [95 %]", "verdict")
FOUND = [
    (
        "trpo-lagrangian: SHAPO δ 1e-3",
        "9.6 ± 0.9",
        "-0.00003 [-0.00024, +0.00019]",
        "does not hold",
    ),
    ("plain", "6.2 ± 0.7", "–", ""),
]


def test_no_number_of_a_table_is_torn_at_any_width(capsys, monkeypatch):
    for columns in range(40, 120):
        narrow(monkeypatch, columns)
        print_table(TABLE, FOUND)
        shown = capsys.readouterr().out
        assert max(map(len, shown.splitlines())) <= columns
        assert {"-0.00003", "[-0.00024,", "+0.00019]", "9.6", "hold"} <= {*shown.split()}


def test_a_table_without_room_is_told_row_by_row(capsys, monkeypatch):
    narrow(monkeypatch, 30)
    print_table(TABLE, FOUND[1:])
    assert [line.split() for line in capsys.readouterr().out.splitlines()][:2] == [
        ["arm", "plain"],
        ["return", "6.2", "±", "0.7"],
    ]
    narrow(monkeypatch, 90)
    print_table(TABLE, FOUND)
    assert capsys.readouterr().out.splitlines()[0].split()[:2] == ["arm", "return"]


def test_names_give_way_where_nothing_else_can(capsys, monkeypatch):
    narrow(monkeypatch, 45)
    print_columns(
        [("SafetyHalfCheetahVelocity-v1", "1000", "HalfCheetah runs forward", "finished")]
    )
    name, *below = capsys.readouterr().out.splitlines()
    assert name == "SafetyHalfCheetahVelocity-v1" and max(map(len, below)) <= 45


def test_no_terminal_is_too_narrow_to_print_anything(capsys, monkeypatch):
    for columns in range(1, 12):
        narrow(monkeypatch, columns)
        print_columns(ROWS, right=(1,))
        print_table(TABLE, FOUND)
        print_prose("the end")
        assert "".join(capsys.readouterr().out.split()).endswith("theend")
