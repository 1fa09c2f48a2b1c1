"""What people read, and the one kind of error that is their own."""

import argparse
import ast
import re
from pathlib import Path

import pytest

from shapo.experiments.sweep.child import _failure
from shapo.runs.holding import RunInUse
from shapo.words import (
    BadInput,
    counted,
    duration_text,
    number_text,
    printable,
    spread,
    steps_text,
    whole_number,
)

SOURCE = Path(__file__).parents[1] / "src" / "shapo"
LIBRARY = ("types.py", "collector.py")
"""Where a ValueError means what it means in any library: a batch that is none."""


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.stem)
def test_bad_input_is_raised_on_purpose(path):
    """A plain ValueError of ours could not be told from one of NumPy's, which is a fault and tried again."""
    for node in ast.walk(ast.parse(path.read_text())):
        raised = node.exc if isinstance(node, ast.Raise) else None
        name = raised.func if isinstance(raised, ast.Call) else raised
        plain = isinstance(name, ast.Name) and name.id == "ValueError"
        assert not plain or path.name in LIBRARY, f"{path}:{node.lineno}: raise BadInput"


OPTION, COMMAND = re.compile(r"(?<!\w)--[a-z]"), re.compile(r"(shapo|ray) \w+ --[a-z]")
TYPED = ("arms.py",)
"""What is read there was typed on a command line."""


@pytest.mark.parametrize(
    "path",
    [each for each in sorted(SOURCE.rglob("*.py")) if "cli" not in each.parts],
    ids=lambda path: path.stem,
)
def test_errors_speak_python_before_they_name_options(path):
    """What is raised below the command line is raised to who calls from Python, too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Raise) and path.name not in TYPED:
            words = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
            said = COMMAND.sub("", " ".join(word for word in words if isinstance(word, str)))
            spoken = "=" in said or "in Python" in said
            assert spoken or not OPTION.search(said), f"{path}:{node.lineno}: {said}"


@pytest.mark.parametrize(
    "error, text, kind",
    [
        (BadInput("seed is x"), "seed is x", "bad input"),
        (ValueError("cannot reshape"), "ValueError: cannot reshape", "error"),
        (RunInUse("busy"), "busy", "in use"),
    ],
)
def test_a_sweep_tries_again_what_may_go_well(error, text, kind):
    assert _failure(error) == (text, kind)


def test_what_steers_a_terminal_is_spelled_out():
    assert printable("a\x1b[31mb\r\n") == "a\\x1b[31mb\\r\\n"
    assert printable("Sauté · ½ λ") == "Sauté · ½ λ"
    assert printable("\udcff\u202e") == "\\udcff\\u202e"


def test_numbers_to_read():
    written = {
        20: "20",
        34210.7: "34,211",
        1_000_000: "1,000,000",
        3.14159: "3.14",
        0.01234: "0.0123",
    }
    assert {number: number_text(number) for number in written} == written
    assert spread(0.123) == " ± 0.12" and spread(float("nan")) == ""


def test_a_whole_number_is_the_one_that_was_typed():
    typed = {"1e6": 1_000_000, "1_000_000": 1_000_000, "9" * 20: int("9" * 20), "-3": -3, "2.0": 2}
    assert {word: whole_number(word) for word in typed} == typed
    for word in ("1.5", "inf", "nan", "1e999", "many", ""):
        with pytest.raises(argparse.ArgumentTypeError, match=f"'{word}' is no whole number"):
            whole_number(word)


def test_one_is_not_many():
    assert [counted(number, "run") for number in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (0, "0"),
        (999, "999"),
        (12_345, "12.3k"),
        (999_936, "1000k"),
        (1e6, "1M"),
        (2.275e9, "2280M"),
    ],
)
def test_steps_are_short_and_never_in_powers_of_ten(steps, said):
    assert steps_text(steps) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 seconds"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (9e3, "2 hours"),
        (9e5, "10 days"),
    ],
)
def test_durations_are_told_in_the_largest_unit_of_which_there_are_two(seconds, said):
    assert duration_text(seconds) == said
    assert duration_text(9e3, ".1f") == "2.5 hours"
