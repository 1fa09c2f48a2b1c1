"""Lists and prose: whole lines in a pipe; on a terminal, no wider than that, and no word is torn."""

import shutil
import sys
import textwrap
from collections.abc import Sequence


def print_prose(text: str) -> None:
    """Each line a paragraph."""
    width = shutil.get_terminal_size().columns
    for line in text.splitlines():
        print(textwrap.fill(line, width, break_on_hyphens=False) if sys.stdout.isatty() else line)


def print_columns(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """A line per row, the columns numbered in `right` aligned there; what is too wide goes on below, in its column."""
    if sys.stdout.isatty():
        _print_folded(rows, right)
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            word.rjust(width) if place in right else word.ljust(width)
            for place, (word, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def _print_folded(rows: Sequence[Sequence[str]], right: Sequence[int]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for place, column in enumerate(zip(*rows, strict=True)):
        longest = max(len(word) for cell in column for word in cell.split() or [""])
        justify = "right" if place in right else "left"
        # A word may be torn if it alone would take most of a line.
        least = min(longest, console.width // 2)
        table.add_column(justify=justify, overflow="fold", min_width=least)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
