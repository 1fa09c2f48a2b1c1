"""How this package compiles: `entry` for what Python calls, `inner` for what only compiled code calls.

Numba would give every function a wrapper that takes the whole state apart for Python. Only entries get one, which
shortens a first compilation by a third, and only entries are kept on disk.
"""

import contextlib
from pathlib import Path

from numba import njit


def _forget_outdated() -> None:
    """Drop what was compiled before the last edit: Numba looks at an entry's own file only, not at what it calls."""
    here = Path(__file__).parent
    edited = max(source.stat().st_mtime for source in here.glob("*.py"))
    for compiled in (here / "__pycache__").glob("*.nbi"):
        # Another process may have been faster, or the package be read-only.
        with contextlib.suppress(OSError):
            if compiled.stat().st_mtime < edited:
                compiled.unlink()


_forget_outdated()
entry = njit(cache=True, nogil=True, no_cfunc_wrapper=True)  # pyright: ignore[reportCallIssue]
inner = njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)  # pyright: ignore[reportCallIssue]


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
