"""Waiting for what other processes do: as long as a busy machine may take, but not for ever."""

import time

PATIENCE = 300.0
"""Seconds after which something will not happen any more; what does happen is waited for no longer than it takes."""


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.01)
