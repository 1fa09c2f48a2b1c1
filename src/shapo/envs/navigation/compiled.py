"""How this package compiles: `entry` for what Python calls, `inner` for what only compiled code calls.

Numba would give every function a wrapper that takes the whole state apart for Python. Only entries get one, which
halves the time of a first compilation, and only entries are kept on disk.
"""

from numba import njit

entry = njit(cache=True, nogil=True, no_cfunc_wrapper=True)  # pyright: ignore[reportCallIssue]
inner = njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)  # pyright: ignore[reportCallIssue]


@inner
def copy(source, target):
    """Write `source` over `target`, both of the same length; Numba's slices take ten times as long to compile."""
    for k in range(len(target)):
        target[k] = source[k]


@inner
def fill(value, target):
    """Make every element of `target` equal to `value`."""
    for k in range(len(target)):
        target[k] = value
