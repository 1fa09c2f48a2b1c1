"""What a sweep asks of whoever runs its runs, and what it is told."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from shapo.experiments.sweep.plan import Job

Row = Mapping[str, float]
"""One iteration, as in `progress.csv`."""


Kind = Literal["bad input", "error", "in use", "lost"]


class Failure(NamedTuple):
    """Why a run ended before its time."""

    reason: str
    """One line."""
    kind: Kind = "error"
    """Bad input fails again for certain, an error perhaps; a run that was lost with its machine did nothing wrong, nor
    did one that somebody else is training."""


class Begun(NamedTuple):
    """A run that was started has got its place and is going on now."""

    name: str


class Advanced(NamedTuple):
    """A run has finished an iteration, and it is on disk here."""

    name: str
    row: Row


class Ended(NamedTuple):
    """A run goes on no longer: it is finished, or it failed."""

    name: str
    failure: Failure | None


Event = Begun | Advanced | Ended


class Engine(Protocol):
    """Runs several runs at once."""

    def has_room(self, job: Job) -> bool:
        """Whether `job` may be started now; it may still have to wait for its place."""
        ...

    def start(self, job: Job) -> None:
        """Begin the run, or continue it from what is in its folder; returns at once."""
        ...

    def events(self, seconds: float) -> Sequence[Event]:
        """What happened, in order; waits for something to happen, but no longer than `seconds`."""
        ...

    def close(self) -> None:
        """Stop all runs that are still going; each can be continued from its folder."""
        ...
