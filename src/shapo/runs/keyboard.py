"""Keys pressed while something is drawn in place."""

import contextlib
import os
import sys
import termios
from collections.abc import Iterator


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
    termios.tcsetattr(keys, termios.TCSANOW, changed)
    try:
        yield
    finally:
        termios.tcsetattr(keys, termios.TCSANOW, before)
