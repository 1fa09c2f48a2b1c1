"""Arrays that several processes see, in memory that has no name and so can never be left behind.

A named segment (`multiprocessing.shared_memory`) outlives a process that is killed. Here the memory hangs on a file
descriptor that the workers inherit: the kernel frees it with the last process, however that one ends.
"""

import mmap
import os
import tempfile
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.types import Batch

ALIGNMENT = 64
SLOTS = 2
"""Batches side by side: the learner still reads one while the workers fill the other."""


class Shape(NamedTuple):
    """The sizes of everything shared."""

    steps: int
    envs: int
    observation: int
    action: int
    costs: int
    workers: int


class Shared(NamedTuple):
    """What parent and workers see."""

    batches: tuple[Batch, ...]
    """One per slot."""
    heartbeat: NDArray[np.int64]
    """[workers] a number that each worker raises with every step: proof that it is alive."""


def anonymous_file() -> int:
    """A descriptor of memory without a name."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("shapo")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _fields(shape: Shape) -> Iterable[tuple[tuple[int, ...], type]]:
    rows = (shape.steps, shape.envs)
    fields = {
        "obs": ((*rows, shape.observation), np.float32),
        "next_obs": ((*rows, shape.observation), np.float32),
        "action": ((*rows, shape.action), np.float32),
        "reward": (rows, np.float32),
        "cost": ((*rows, shape.costs), np.float32),
        "terminated": (rows, np.bool_),
        "truncated": (rows, np.bool_),
    }
    batch = [fields[name] for name in Batch._fields]
    return [*batch * SLOTS, ((shape.workers,), np.int64)]


def share(descriptor: int, shape: Shape) -> Shared:
    """Lay the arrays out in the file behind `descriptor`, which grows to fit; every process gets the same memory."""
    places, end = [], 0
    for dims, dtype in _fields(shape):
        places.append((end, dims, dtype))
        size = int(np.prod(dims)) * np.dtype(dtype).itemsize
        end += -(-size // ALIGNMENT) * ALIGNMENT
    if os.fstat(descriptor).st_size < end:
        os.ftruncate(descriptor, end)
    memory = mmap.mmap(descriptor, end)
    arrays: list[NDArray[Any]] = [
        np.frombuffer(memory, dtype, int(np.prod(dims)), offset).reshape(dims)
        for offset, dims, dtype in places
    ]
    width = len(Batch._fields)
    batches = tuple(Batch._make(arrays[i * width : (i + 1) * width]) for i in range(SLOTS))
    return Shared(batches, arrays[-1])
