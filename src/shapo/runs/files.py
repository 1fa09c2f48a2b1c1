"""Files that are either whole or not believed, and that execute nothing when they are read.

A file is written under a temporary name, forced to disk and renamed, so a crash leaves the old one or the new one. A
checksum over everything in it tells a damaged file from a good one.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from shapo.words import BadInput


class Damaged(BadInput):
    """A file whose content is not what was written; the message names it."""


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path` by `content`; whoever looks sees the old file or the whole new one, even after a crash."""
    temporary = temporary_name(path)
    with named_errors(path):
        try:
            # Left by a crash, or a link that somebody has put there to lead us elsewhere.
            temporary.unlink(missing_ok=True)
            with open(temporary, "xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
            sync_folder(path.parent)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Replace `path` by what somebody can read, too."""
    write_atomically(path, (json.dumps(content, indent=2) + "\n").encode())


def temporary_name(path: Path) -> Path:
    """Where `path` is written before it is whole."""
    return path.with_name(f".{path.name}.tmp")


def remove_temporaries(folder: Path) -> None:
    """Tidy up what a crash in the middle of `write_atomically` left."""
    for path in folder.glob(".*.tmp"):
        path.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on disk, as `fsync` does for the content of a file."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Have an OSError that names no file (a full disk), or a temporary one that nobody has heard of, name this one."""
    try:
        yield
    except OSError as error:
        if error.filename in (None, str(temporary_name(path))):
            error.filename = str(path)
        raise


def read_json(path: Path) -> Any:
    """What a JSON file holds; raises `Damaged`."""
    try:
        return json.loads(path.read_bytes(), object_pairs_hook=_each_once)
    except OSError as error:
        raise Damaged(f"{path} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise Damaged(f"{path} is damaged (it is no text)") from None
    except ValueError as error:
        raise Damaged(f"{path} is damaged ({error})") from None
    except RecursionError:
        raise Damaged(f"{path} is damaged (it is nested too deeply)") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadInput(f"{twice!r} stands there twice")
    return found


def pack(arrays: Mapping[str, NDArray], facts: Mapping[str, str]) -> bytes:
    """A safetensors file with a checksum."""
    # safetensors writes the memory as it lies, so a transposed view would come back scrambled. And what is read is of
    # the processor's own byte order, as is what the checksum is of.
    contiguous = {
        name: np.array(value, value.dtype.newbyteorder("="), order="C")
        for name, value in arrays.items()
    }
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
    except OSError as error:
        raise Damaged(f"{path} cannot be read ({error.strerror or error})") from None
    except KeyError:
        raise Damaged(f"{path} is damaged (it is not of shapo)") from None
    # TypeError and AttributeError: a type of number that NumPy has not, bfloat16 or one of 8 bits.
    except (SafetensorError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise Damaged(f"{path} is damaged ({error})") from None
    if not isinstance(facts, dict) or not all(isinstance(fact, str) for fact in facts.values()):
        raise Damaged(f"{path} is damaged (its facts are no texts)")
    if facts.pop("checksum", None) != _checksum(arrays, facts):
        raise Damaged(f"{path} is damaged (its checksum is wrong)")
    return arrays, facts


def _checksum(arrays: Mapping[str, NDArray], facts: Mapping[str, str]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name, fact in sorted(facts.items()):
        digest.update(f"{name}={fact};".encode(errors="surrogatepass"))
    for name, array in sorted(arrays.items()):
        digest.update(f"{name}:{array.dtype}{array.shape};".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
