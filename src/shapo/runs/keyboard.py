"""The terminal while something is drawn in place: without marks for keys, and put back on every way out."""

import contextlib
import os
import sys
import termios
from collections.abc import Iterator
from typing import Any

_found: dict[int, list[Any]] = {}
"""How each terminal was before it was changed, by its file descriptor."""


@contextlib.contextmanager
def without_marks() -> Iterator[None]:
    """Have the terminal not write `^C` for Ctrl-C, which would move what is drawn in place.

    Nothing is changed where there is no terminal, or where it is another process's to change.
    """
    try:
        keys = sys.stdin.fileno()
        before = termios.tcgetattr(keys)
        ours = os.tcgetpgrp(keys) == os.getpgrp()
    except (OSError, ValueError, AttributeError, termios.error):
        ours = False
    if not ours:
        yield
        return
    changed = list(before)
    changed[3] &= ~termios.ECHOCTL
    _found[keys] = before
    termios.tcsetattr(keys, termios.TCSANOW, changed)
    try:
        yield
    finally:
        _put_back_marks()


def put_back() -> None:
    """Leave the terminal as it was found, its cursor included: for who leaves without unwinding."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if sys.stdout.isatty():
            os.write(sys.stdout.fileno(), b"\x1b[?25h")
    _put_back_marks()


def _put_back_marks() -> None:
    while _found:
        keys, before = _found.popitem()
        with contextlib.suppress(OSError, termios.error):  # it may have been closed
            termios.tcsetattr(keys, termios.TCSANOW, before)
