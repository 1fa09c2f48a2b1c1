"""Checkpoints: named arrays in one file that is either whole or not believed.

A file is written under a temporary name, forced to disk and renamed, so a crash leaves the old one or the new one. A
checksum over everything in it tells a damaged file from a good one. The last two are kept.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

KEPT = 2


class Checkpoint(NamedTuple):
    """What a training needs in order to go on."""

    iteration: int
    """The last one it contains."""
    arrays: dict[str, NDArray]
    facts: dict[str, str]
    """Short texts: file sizes, elapsed time."""


class Damaged(ValueError):
    """A checkpoint whose content is not what was written."""


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path` by `content`; whoever looks sees the old file or the whole new one, even after a crash."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def pack(arrays: Mapping[str, NDArray], facts: Mapping[str, str]) -> bytes:
    """A safetensors file with a checksum."""
    # safetensors writes the memory as it lies, so a transposed view would come back scrambled.
    contiguous = {name: np.array(value, order="C") for name, value in arrays.items()}
    # One entry, because safetensors writes several in no fixed order and equal content should be an equal file.
    return save(
        contiguous, {"shapo": json.dumps({**facts, "checksum": _checksum(contiguous, facts)})}
    )


def unpack(path: Path) -> tuple[dict[str, NDArray], dict[str, str]]:
    """Arrays and facts of a file made by `pack`; raises `Damaged`."""
    try:
        with safe_open(path, "numpy") as file:
            facts = json.loads((file.metadata() or {})["shapo"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, KeyError, ValueError) as error:
        raise Damaged(f"{path} is damaged ({error})") from None
    if facts.pop("checksum", None) != _checksum(arrays, facts):
        raise Damaged(f"{path} is damaged (its checksum is wrong)")
    return arrays, facts


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


def _checksum(arrays: Mapping[str, NDArray], facts: Mapping[str, str]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name, fact in sorted(facts.items()):
        digest.update(f"{name}={fact};".encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name}:{array.dtype}{array.shape};".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
