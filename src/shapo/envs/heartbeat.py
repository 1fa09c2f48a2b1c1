"""Signs of life from work that is longer than a step: whoever waits for an environment sees that it is not stuck."""

import contextlib
from collections.abc import Callable, Iterator

_listeners: list[Callable[[], None]] = []


def alive() -> None:
    """Say that this environment is still at work; for a `set_state` that takes long."""
    for listener in _listeners:
        listener()


@contextlib.contextmanager
def heard_by(listener: Callable[[], None]) -> Iterator[None]:
    """Have `listener` called at every sign of life."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
