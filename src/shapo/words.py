"""What people type and read: numbers, and names that are nearly right."""

import argparse
import contextlib
import difflib
import math
from collections.abc import Callable, Iterable
from typing import Any


class BadInput(ValueError):
    """What was asked for cannot be done; the message is one line that names the culprit and the fix."""


def printable(text: object) -> str:
    """Text from a file or a folder's name, safe to show: what could steer a terminal is spelled out."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text))


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint at what was probably meant, or nothing: a name that begins so, or one that is nearly the same."""
    bare = {each.lstrip("-"): each for each in known}  # that both are options makes them no nearer
    name = name.lstrip("-")
    longer = [each for each in bare if len(name) > 2 and each.startswith(name)]
    found = longer or difflib.get_close_matches(name, bare, n=1)
    return f"; did you mean {bare[found[0]]}?" if found else ""


def counted(number: int, thing: str) -> str:
    """So many of a thing: 1 run, 2 runs."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def option_of(choice: str) -> str:
    """A choice as an option of the command line."""
    return f"--{choice.replace('_', '-')}"


def folder_name(text: str) -> str:
    """The text with all that a folder's name should not have replaced."""
    return "".join(c if c.isalnum() or c in "-_.=" else "-" for c in text)


def cut(name: str, longest: int) -> str:
    """As much of a file's name as fits into so many bytes, of which file systems allow 255."""
    return name.encode()[:longest].decode(errors="ignore")


def whole_number(word: str) -> int:
    """An option's type: an integer, which may be written 1e6 or 1_000_000."""
    with contextlib.suppress(ValueError):
        return int(word)  # a float would round one of twenty digits
    try:
        number = float(word)
        if number == int(number):
            return int(number)
    except (ValueError, OverflowError):
        pass
    raise argparse.ArgumentTypeError(f"{word!r} is no whole number")


def at_least_one(word: str) -> int:
    """An option's type: a whole number of at least 1."""
    number = whole_number(word)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is less than 1")
    return number


def real_number(word: str) -> float:
    """An option's type."""
    try:
        return float(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{word!r} is no number") from None


READERS: dict[type, Callable[[str], Any]] = {str: str, int: whole_number, float: real_number}
"""What a word stands for where a text, a whole number or a number is meant."""


def spread(error: float, form: str = ".2g") -> str:
    """What stands behind a mean to say how sure it is; nothing where there is nothing to be sure of."""
    return f" ± {error:{form}}" if math.isfinite(error) else ""


def or_dash(number: float, form: str = ".2f") -> str:
    """A number, or a dash for what is not known."""
    return "–" if math.isnan(number) else f"{number:{form}}"


def number_text(number: float) -> str:
    """A measurement to read: three digits, or all before the point, in groups of three."""
    return f"{number:,.0f}" if abs(number) >= 100 or number == int(number) else f"{number:.3g}"


def steps_text(steps: float) -> str:
    """10000000 as 10M, 200000 as 200k."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if steps >= size:
            return f"{float(f'{steps / size:.3g}'):g}{unit}"  # a thousand of them is no 1e+03
    return f"{steps:.0f}"


def duration_text(seconds: float, form: str = ".0f") -> str:
    """Seconds in the largest unit of which there are two."""
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:{form}} {unit}"
    return f"{seconds:.0f} seconds"


def radius_text(radius: float) -> str:
    """0.001 as 1e-3: radii are told by their powers of ten."""
    return f"{radius:.0e}".replace("e-0", "e-")
