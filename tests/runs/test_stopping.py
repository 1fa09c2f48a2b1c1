"""Being told to stop, at moments when one cannot."""

import signal

import pytest

from shapo.runs.stopping import Terminated, goes_on_when_repeated, held_back, sigterm_raises


@pytest.mark.parametrize(
    "number, raised", [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)]
)
def test_what_is_held_back_comes_afterwards(number, raised):
    done = []
    with sigterm_raises(), pytest.raises(raised):
        with held_back():
            signal.raise_signal(number)
            done.append("import")
        done.append("more")
    assert done == ["import"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_asks_twice_does_not_wait(number):
    """The first time is heard as if it had come just now, the second by what the first left to hear it."""
    heard = []

    def once(number, frame):
        heard.append("once")
        signal.signal(number, lambda number, frame: heard.append("again"))
        raise KeyboardInterrupt

    before = signal.signal(number, once)
    try:
        with held_back():
            signal.raise_signal(number)
            assert not heard
            signal.raise_signal(number)
            assert heard == ["once", "again"]
            signal.raise_signal(number)
    finally:
        signal.signal(number, before)
    assert heard == ["once", "again", "again"]


def test_nothing_comes_if_nobody_stopped_it():
    with held_back():
        pass


@pytest.mark.parametrize("kind", [KeyboardInterrupt, Terminated])
def test_who_stops_what_goes_on_by_itself_is_told(kind):
    with pytest.raises(kind, match="the same command goes on") as said, goes_on_when_repeated():
        raise kind
    assert type(said.value) is kind
