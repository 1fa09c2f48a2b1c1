"""How this package compiles: `entry` for what Python calls, `inner` for what only compiled code calls.

Numba would give every function a wrapper that takes the whole state apart for Python. Only entries get one, which
shortens a first compilation by a third, and only entries are kept on disk.
"""

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path

from numba import njit

DIGEST = hashlib.blake2b(
    b"".join(source.read_bytes() for source in sorted(Path(__file__).parent.glob("*.py"))),
    digest_size=8,
).hexdigest()
"""Of everything that may be compiled into an entry."""

inner = njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)  # pyright: ignore[reportCallIssue]


def entry(function: Callable) -> Callable:
    """Compile a function that Python calls, or find it on disk as it was compiled from these very sources.

    Numba looks at the time of the entry's own file only, not at what it calls, and keeps what it compiled wherever it
    may write. So the name under which it does carries a digest, and whatever else has this name is outdated.
    """
    beginning = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}"
    function.__qualname__ += f"_{DIGEST}"
    compiled = njit(cache=True, nogil=True, no_cfunc_wrapper=True)(function)  # pyright: ignore[reportCallIssue]
    for kept in Path(compiled.stats.cache_path).glob(f"{beginning}[-_]*"):
        # Another process may be faster, or the folder be read-only.
        with contextlib.suppress(OSError):
            if DIGEST not in kept.name:
                kept.unlink()
    return compiled


@inner
def copy(source, target):
    """Write `source` over `target`, as far as that goes; compiles much faster than an assignment of slices."""
    for k in range(len(target)):
        target[k] = source[k]


@inner
def fill(value, target):
    """Make every element of `target` equal to `value`."""
    for k in range(len(target)):
        target[k] = value
