"""A CSV file that grows row by row and can be cut back to a size it once had."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np


class Table:
    """Numbers under fixed columns. The first row ever written decides the columns."""

    def __init__(self, path: Path, size: int = 0):
        """Continue the file from its first `size` bytes; what is beyond was written after the last checkpoint."""
        self._file = open(path, "r+b" if path.exists() else "w+b")  # noqa: SIM115
        known = self._file.seek(0, os.SEEK_END)
        if known < size:
            raise ValueError(
                f"{path} has {known} bytes, its checkpoint speaks of {size}: it was cut or replaced"
            )
        self._file.truncate(size)
        self._file.seek(0)
        self._columns = self._file.readline().decode().strip().split(",") if size else []
        self._file.seek(size)

    def append(self, rows: Sequence[Mapping[str, float]]) -> None:
        """Write rows; they are on disk after `sync`."""
        for row in rows:
            if not self._columns:
                self._columns = list(row)
                self._file.write((",".join(self._columns) + "\n").encode())
            if list(row) != self._columns:
                changed = ", ".join(sorted(set(row) ^ set(self._columns))) or "their order"
                raise ValueError(f"{self._file.name}: the columns changed ({changed})")
            self._file.write((",".join(map(repr, row.values())) + "\n").encode())

    def sync(self) -> int:
        """Make sure that everything is on disk, and return the file's size."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Free the file. A full disk has been reported by `sync` already; it must not hide what came first."""
        with contextlib.suppress(OSError):
            self._file.close()


def read_columns(path: Path) -> dict[str, list[float]]:
    """A table's columns; a last line that was cut short is left out. ValueError if it is no table of numbers."""
    text = path.read_text("utf-8")
    header, *rows = text[: text.rfind("\n") + 1].splitlines() or [""]
    names = header.split(",") if header else []
    numbers = np.loadtxt(rows, delimiter=",", comments=None, ndmin=2) if rows else np.empty((0, 0))
    columns = numbers.T.tolist() if rows else [[] for _ in names]
    return dict(zip(names, columns, strict=True))
