"""A run's folder on another machine, kept in step over a stream of changes.

Tables and logs grow at their end, so only what is new travels. Configuration, policy and checkpoints are replaced as
a whole. Changes are read manifest and checkpoints first and written in the opposite order: wherever the stream breaks
off, every checkpoint here finds at least the rows it speaks of, and a manifest all the files it seals.
"""

from pathlib import Path
from typing import NamedTuple

from shapo.runs.absent import is_run
from shapo.runs.checkpoints import NAME
from shapo.runs.files import write_atomically
from shapo.runs.folder import ASIDE
from shapo.runs.integrity import MANIFEST

REPLACED = (".safetensors", ".json")
CHECKPOINTS = "checkpoints"


class Part(NamedTuple):
    """Some of a file."""

    path: str
    """Within the run's folder."""
    offset: int | None
    """Where the content belongs, and the file ends with it; None: the content is the whole file."""
    content: bytes


class Changes(NamedTuple):
    """What is new in a folder."""

    parts: list[Part]
    """In the order in which they are to be written."""
    checkpoints: list[str]
    """All that the folder has now; others may go, but never the last."""


class Source:
    """The folder that is being written, from where changes come."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._seen: dict[str, int] = {}
        """Length of a growing file, time of change of a replaced one."""

    def changes(self) -> Changes:
        """All that is new since the last call."""
        parts, checkpoints = [], []
        for path in sorted(self._folder.rglob("*"), key=_seals_first):
            if path.is_symlink() or not path.is_file() or path.name.startswith("."):
                continue
            name = path.relative_to(self._folder).as_posix()
            if name.startswith(f"{ASIDE}/"):
                continue
            try:
                part = (
                    self._replaced(path, name)
                    if path.suffix in REPLACED
                    else self._grown(path, name)
                )
            except FileNotFoundError:
                # The run has dropped an old checkpoint just now.
                continue
            if part:
                parts.append(part)
            if path.parent.name == CHECKPOINTS:
                checkpoints.append(path.name)
        return Changes(parts[::-1], checkpoints)

    def _replaced(self, path: Path, name: str) -> Part | None:
        changed = path.stat().st_mtime_ns
        if self._seen.get(name) == changed:
            return None
        self._seen[name] = changed
        return Part(name, None, path.read_bytes())

    def _grown(self, path: Path, name: str) -> Part | None:
        known = self._seen.get(name, 0)
        with open(path, "rb") as file:
            file.seek(known)
            content = file.read()
        self._seen[name] = known + len(content)
        return Part(name, known, content) if content else None


def apply(folder: Path, changes: Changes) -> None:
    """Bring a copy up to date."""
    for name, offset, content in changes.parts:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if offset is None:
            write_atomically(path, content)
            continue
        with open(path, "r+b" if path.exists() else "w+b") as file:
            file.seek(offset)
            file.write(content)
            file.truncate()
    for path in (folder / CHECKPOINTS).glob("*.safetensors"):
        stale = changes.checkpoints and path.name not in changes.checkpoints
        if stale and NAME.fullmatch(path.name):
            path.unlink()


def needed_to_continue(folder: Path) -> Changes:
    """What another machine must have in order to go on with the run; nothing if it has not begun."""
    return Source(folder).changes() if is_run(folder) else Changes([], [])


def _seals_first(path: Path) -> tuple[bool, bool, str]:
    return path.name != MANIFEST, path.parent.name != CHECKPOINTS, str(path)
