"""Tables in a terminal's width: a cell is never broken, so a wide table is turned on its side, or taken apart."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich import box
from rich.table import Table
from rich.text import Text

from shapo.words import printable


class Grid(NamedTuple):
    """Cells, each row under its name in the first column."""

    headings: list[str]
    sections: list[list[list[str]]]
    """With a gap between them."""


def tables(title: str, wide: Grid, on_its_side: Grid, width: int) -> list[Table]:
    """The first of these that fits: the wide grid; the one on its side; that in two, cut between the wide one's
    sections. Where none does, a table for each column of the wide one."""
    halves, split = [], 1
    for section in wide.sections:
        if section:
            halves.append(_part(on_its_side, range(split, split + len(section))))
        split += len(section)
    columns = [_part(wide, [number]) for number in range(1, len(wide.headings))]
    ways = ([wide], [on_its_side], halves)
    fitting = (way for way in ways if all(_widths(grid, width) for grid in way))
    chosen = next(fitting, columns)
    titles = [title, *[""] * (len(chosen) - 1)]
    return [
        _table(heading, grid, _widths(grid, width) or _natural(grid))
        for heading, grid in zip(titles, chosen, strict=True)
    ]


def _part(grid: Grid, columns: Iterable[int]) -> Grid:
    """The names and some columns of the cells."""
    taken = [0, *columns]
    of = lambda row: [row[number] for number in taken]
    return Grid(of(grid.headings), [[of(row) for row in section] for section in grid.sections])


def _natural(grid: Grid) -> list[int]:
    return [max(map(len, column)) for column in zip(grid.headings, *_rows(grid), strict=True)]


def _widths(grid: Grid, width: int) -> list[int] | None:
    """Of the columns, within `width` letters; None if a cell would have to be broken. Names and headings may be."""
    count = len(grid.headings)
    # A margin at each side of a column, a gap between them, and the edges.
    room = width - (3 * count + 1)
    natural = _natural(grid)
    if sum(natural) <= room:
        return natural
    names, *columns = zip(*_rows(grid), strict=True)
    fixed = [
        max(map(len, (*cells, *heading.split())))
        for heading, cells in zip(grid.headings[1:], columns, strict=True)
    ]
    left = room - sum(fixed)
    needed = max(len(word) for name in names for word in name.split())
    return [min(left, natural[0]), *fixed] if left >= needed else None


def _rows(grid: Grid) -> list[list[str]]:
    return [row for section in grid.sections for row in section]


def _table(title: str, grid: Grid, widths: Sequence[int]) -> Table:
    made = Table(title=_text(title) if title else None, box=box.SIMPLE_HEAD)
    for number, (heading, width) in enumerate(zip(grid.headings, widths, strict=True)):
        made.add_column(
            _text(heading), justify="right" if number else "left", overflow="fold", width=width
        )
    for section in grid.sections:
        for row in section:
            made.add_row(*map(_text, row))
        made.add_section()
    return made


def _text(words: str) -> Text:
    return Text(printable(words))
