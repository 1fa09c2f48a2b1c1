"""One process at a time: a folder is held by a lock that goes with the process, however it ends."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from shapo.words import BadInput


class RunInUse(BadInput):
    """Another process is training in this folder."""


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder for this process alone; raises `RunInUse` if another has it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Who had it before us may have taken it off the disk.
            still_there = os.path.samestat(os.fstat(descriptor), os.stat(folder))
        except (BlockingIOError, FileNotFoundError):
            still_there = False
        if not still_there:
            raise RunInUse(
                f"{folder} is being trained by another process; wait for it or choose another folder"
            )
        yield
    finally:
        os.close(descriptor)
