"""Lists and prose: whole lines in a pipe; on a terminal, no wider than that, and no word is torn."""

import itertools
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shapo.words import printable

if TYPE_CHECKING:
    from shapo.runs.reading import Skipped

GAP = "  "
WIDE = 160
"""Columns of a table in a pipe, whose cells may be whole sentences."""
NAME = 12
"""Columns that a row's name keeps, however narrow the terminal: what is longer has a line of its own."""


def print_skipped(skipped: "Sequence[Skipped]") -> None:
    """A line for each run that was found and cannot be used; its name may come from anybody."""
    for place, reason in skipped:
        print(printable(f"skipped {place}: {reason}"))


def print_prose(text: str) -> None:
    """Each line a paragraph."""
    for line in text.splitlines():
        print("\n".join(_wrapped(line, _room() or len(line) + 1)))


def print_columns(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """A line per row, the columns numbered in `right` aligned there.

    A cell that is too wide goes on below, in its column; at the head of a row, a single word gets a line of its own.
    """
    _print(rows, _widths(list(zip(*rows, strict=True)), _room()), right)


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Rows of numbers and sentences below their headings, and an empty line; those of several lines stand apart.

    Where not even their words have room beside each other each row is by itself, a line for each heading.
    """
    room = _room() or WIDE
    columns = list(zip(headings, *rows, strict=True))
    gaps = len(GAP) * (len(columns) - 1)
    if sum(map(_longest_word, columns)) + gaps > room:
        for row in rows:
            lines = list(zip(headings, row, strict=True))
            _print(lines, _widths(list(zip(*lines, strict=True)), room))
            print()
        return
    widths = _widths(columns, room)
    _print([headings], widths)
    for row in rows:
        _print([row], widths)
        wrapped = map(_wrapped, row, widths)
        if row is rows[-1] or any(len(lines) > 1 for lines in wrapped):
            print()


def _print(rows: Sequence[Sequence[str]], widths: Sequence[int], right: Sequence[int] = ()) -> None:
    for row in rows:
        if len(row[0]) > widths[0] and " " not in row[0]:  # a name, which somebody may want to copy
            print(row[0])
            row = ("", *row[1:])
        cells = [_wrapped(cell, width) for cell, width in zip(row, widths, strict=True)]
        for line in itertools.zip_longest(*cells, fillvalue=""):
            aligned = [
                word.rjust(width) if place in right else word.ljust(width)
                for place, (word, width) in enumerate(zip(line, widths, strict=True))
            ]
            print(GAP.join(aligned).rstrip())


def _widths(columns: Sequence[Sequence[str]], room: int | None) -> list[int]:
    """As wide as what is in them; where that is too much, the widest give way, and at last the names."""
    widths = [
        max((len(line) for cell in column for line in cell.splitlines()), default=1)
        for column in columns
    ]
    if room is None:
        return widths
    room -= len(GAP) * (len(columns) - 1)
    # A word is torn only if it alone would take most of a line.
    least = [max(1, min(_longest_word(column), room // 2)) for column in columns]
    while sum(widths) > room:
        wide = [place for place in range(len(widths)) if widths[place] > least[place]]
        if not wide and widths[0] <= NAME:
            break
        widths[max(wide, key=lambda place: widths[place], default=0)] -= 1
    return widths


def _longest_word(column: Sequence[str]) -> int:
    return max((len(word) for cell in column for word in cell.split()), default=0)


def _wrapped(text: str, width: int) -> list[str]:
    lines = (textwrap.wrap(line, width, break_on_hyphens=False) for line in text.splitlines())
    return [*itertools.chain.from_iterable(lines)] or [""]


def _room() -> int | None:
    """The terminal's columns; None where there is no terminal, which has room for everything."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
