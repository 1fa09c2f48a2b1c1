"""Checkpoints: the last two states of a training, each enough to go on from."""

from pathlib import Path
from typing import NamedTuple

from numpy.typing import NDArray

from shapo.runs.files import Damaged, pack, unpack, write_atomically

KEPT = 2


class Checkpoint(NamedTuple):
    """What a training needs in order to go on."""

    iteration: int
    """The last one it contains."""
    arrays: dict[str, NDArray]
    facts: dict[str, str]
    """Short texts: file sizes, elapsed time."""


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Add a checkpoint and drop the oldest."""
    write_atomically(
        folder / _name(checkpoint.iteration), pack(checkpoint.arrays, checkpoint.facts)
    )
    for old in _found(folder)[:-KEPT]:
        old.unlink()


def newest_checkpoint(folder: Path) -> tuple[Checkpoint | None, list[str]]:
    """The last checkpoint that is whole, and a line about each that is not."""
    problems = []
    for path in reversed(_found(folder)):
        try:
            arrays, facts = unpack(path)
        except Damaged as error:
            problems.append(str(error))
        else:
            return Checkpoint(int(path.stem), arrays, facts), problems
    return None, problems


def _name(iteration: int) -> str:
    return f"{iteration:06d}.safetensors"


def _found(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9]*.safetensors"), key=lambda path: int(path.stem))
