"""Being told to stop: `kill PID` leaves like Ctrl-C does, with everything closed."""

import contextlib
import signal
import threading
from collections.abc import Iterator

from shapo.runs.keyboard import put_back


class Terminated(KeyboardInterrupt):
    """`kill PID`, which unwinds the stack like Ctrl-C does."""


@contextlib.contextmanager
def sigterm_raises() -> Iterator[None]:
    """Have SIGTERM close workers and files, too."""

    def leave(number: int, frame: object) -> None:
        # A second one does not wait for anything to be closed, nor would it put the terminal back.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        put_back()
        raise Terminated

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Have Ctrl-C and SIGTERM wait until what is within is done; who asks a second time does not wait."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []

    def note(number: int, frame: object) -> None:
        if number not in heard:
            heard.append(number)
            return
        # The first as if it came only now; what it raises is not for here, but it may have changed who hears the next.
        put_back_handlers()
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(number)
        heard.clear()
        signal.raise_signal(number)

    def put_back_handlers() -> None:
        for each, handler in before.items():
            if signal.getsignal(each) is note:
                signal.signal(each, handler)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        put_back_handlers()
    for number in heard:
        signal.raise_signal(number)


@contextlib.contextmanager
def goes_on_when_repeated() -> Iterator[None]:
    """Tell whoever stops what is within that nothing of it is lost."""
    try:
        yield
    except KeyboardInterrupt as error:
        said = "stopped; nothing is lost, the same command goes on where it stopped"
        raise type(error)(said) from None
