"""A CSV file that grows row by row and can be cut back to an extent it once had."""

import contextlib
import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from shapo.runs.files import Damaged, named_errors
from shapo.words import BadInput

SEPARATORS = ',"'
"""Of a CSV file: in the name of a column they would make two of it, as would whatever ends a line."""


class Extent(NamedTuple):
    """The beginning of a file: how many bytes, and their checksum."""

    size: int = 0
    digest: str = ""

    def __str__(self) -> str:
        return f"{self.size}:{self.digest}"

    @classmethod
    def parse(cls, text: str) -> "Extent":
        """What `str` of an extent says."""
        size, _, digest = text.partition(":")
        if not size.isdecimal():
            raise Damaged(f"{text!r} is no extent of a file")
        return cls(int(size), digest)


class Table:
    """Numbers under fixed columns. The first row ever written decides the columns."""

    def __init__(self, path: Path, known: Extent = Extent()):
        """Continue the file from its `known` beginning; what is beyond was written after the last checkpoint."""
        self._path = path
        self._file = open(path, "r+b" if path.exists() else "w+b")  # noqa: SIM115
        try:
            self._digest = _digest_of(self._file, path, known)
            self._file.truncate(known.size)
            self._file.seek(0)
            header = self._file.readline() if known.size else b""
            self._columns = header.decode().strip().split(",") if header else []
            self._file.seek(known.size)
        except BaseException:
            self._file.close()
            raise

    def append(self, rows: Sequence[Mapping[str, float]]) -> None:
        """Write rows; they are on disk after `sync`."""
        for row in rows:
            if not self._columns:
                self._columns = list(map(_named, row))
                self._write(",".join(self._columns))
            if list(row) != self._columns:
                changed = ", ".join(sorted(set(row) ^ set(self._columns))) or "their order"
                raise BadInput(
                    f"{self._path}: the columns changed ({changed}); each row must have those of the first"
                )
            self._write(",".join(map(repr, row.values())))

    def sync(self) -> Extent:
        """Make sure that everything is on disk, and return the file's extent."""
        with named_errors(self._path):
            self._file.flush()
            os.fsync(self._file.fileno())
            return Extent(self._file.tell(), self._digest.hexdigest())

    def close(self) -> None:
        """Free the file. A full disk has been reported by `sync` already; it must not hide what came first."""
        with contextlib.suppress(OSError):
            self._file.close()

    def _write(self, line: str) -> None:
        content = f"{line}\n".encode()
        self._digest.update(content)
        with named_errors(self._path):
            self._file.write(content)


def _named(column: str) -> str:
    readable = column.isprintable() and column == column.strip()
    if not readable or any(character in SEPARATORS for character in column):
        raise BadInput(
            f"a column cannot be called {column!r}: no comma, quote, line break or outer blank"
        )
    return column


def check_extent(path: Path, known: Extent) -> None:
    """Raise `Damaged` unless the file begins as it did when it had this extent."""
    try:
        with open(path, "rb") as file:
            _digest_of(file, path, known)
    except OSError as error:
        raise Damaged(f"{path} cannot be read ({error.strerror})") from None


def read_columns(path: Path) -> dict[str, list[float]]:
    """A table's columns; a last line that was cut short is left out. ValueError if it is no table of numbers."""
    text = path.read_text("utf-8")
    header, *rows = text[: text.rfind("\n") + 1].splitlines() or [""]
    names = header.split(",") if header else []
    if len(set(names)) < len(names):
        raise BadInput("a column is there twice")
    numbers = np.loadtxt(rows, delimiter=",", comments=None, ndmin=2) if rows else np.empty((0, 0))
    columns = numbers.T.tolist() if rows else [[] for _ in names]
    if len(columns) != len(names):
        raise BadInput(f"{len(names)} columns have names and {len(columns)} have numbers")
    return dict(zip(names, columns, strict=True))


def _digest_of(file: BinaryIO, path: Path, known: Extent) -> hashlib.blake2b:
    """The running checksum of the file's first bytes, which must be the known ones."""
    content = file.read(known.size)
    digest = hashlib.blake2b(content, digest_size=16)
    if len(content) < known.size:
        raise Damaged(
            f"{path} has {len(content)} bytes, its checkpoint speaks of {known.size}: it was cut or replaced"
        )
    if known.digest and digest.hexdigest() != known.digest:
        raise Damaged(f"{path} is not what was written (its checksum is wrong)")
    return digest
