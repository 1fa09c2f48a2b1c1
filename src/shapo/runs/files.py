"""Files that are either whole or not believed, and that execute nothing when they are read.

A file is written under a temporary name, forced to disk and renamed, so a crash leaves the old one or the new one. A
checksum over everything in it tells a damaged file from a good one.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save


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


def _checksum(arrays: Mapping[str, NDArray], facts: Mapping[str, str]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name, fact in sorted(facts.items()):
        digest.update(f"{name}={fact};".encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name}:{array.dtype}{array.shape};".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
