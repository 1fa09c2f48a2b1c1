"""Checkpoints: the last two states of a training, each enough to go on from."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.runs.files import Damaged, pack, unpack, write_atomically

KEPT = 2
NAME = re.compile(r"(\d{6}|[1-9]\d{6,})\.safetensors", re.ASCII)


class Checkpoint(NamedTuple):
    """What a training needs in order to go on."""

    iteration: int
    """The last one it contains."""
    arrays: dict[str, NDArray]
    facts: dict[str, str]
    """Short texts: the extents of tables, elapsed time, the experiment."""

    def part(self, name: str) -> dict[str, NDArray]:
        """The arrays of one part of the training, as `joined` was given them."""
        mark = f"{name}/"
        return {k.removeprefix(mark): v for k, v in self.arrays.items() if k.startswith(mark)}


def joined(**parts: Mapping[str, NDArray]) -> dict[str, NDArray]:
    """The arrays of several parts of a training as one bundle."""
    return {f"{part}/{k}": np.asarray(v) for part, own in parts.items() for k, v in own.items()}


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Add a checkpoint and drop the oldest."""
    folder.mkdir(exist_ok=True)
    facts = {**checkpoint.facts, "iteration": str(checkpoint.iteration)}
    write_atomically(_path(folder, checkpoint.iteration), pack(checkpoint.arrays, facts))
    keep_last(folder, checkpoint.iteration)


def keep_last(folder: Path, newest: int) -> None:
    """Drop all but the last two up to `newest`: a crash may have left more, and what is later is of no use."""
    found = iterations(folder)
    kept = [iteration for iteration in found if iteration <= newest][-KEPT:]
    for iteration in set(found) - set(kept):
        _path(folder, iteration).unlink()


def iterations(folder: Path) -> list[int]:
    """Those that have a checkpoint, in order; whatever else lies in the folder is nobody's business."""
    files = (path.name for path in folder.glob("*.safetensors") if path.is_file())
    found = map(NAME.fullmatch, files)
    return sorted(int(name[1]) for name in found if name)


def newest_first(folder: Path) -> Iterator[Checkpoint | Damaged]:
    """Every checkpoint, or what is wrong with it."""
    for iteration in reversed(iterations(folder)):
        path = _path(folder, iteration)
        try:
            arrays, facts = unpack(path)
            if facts.pop("iteration", "") != str(iteration):
                raise Damaged(f"{path} is damaged (it is another iteration's)")
        except Damaged as error:
            if path.exists():  # a training that goes on right now may have dropped it
                yield error
        else:
            yield Checkpoint(iteration, arrays, facts)


def damaged(folder: Path) -> list[str]:
    """A line about each checkpoint that is not what was written."""
    return [str(found) for found in newest_first(folder) if isinstance(found, Damaged)]


def _path(folder: Path, iteration: int) -> Path:
    return folder / f"{iteration:06d}.safetensors"
