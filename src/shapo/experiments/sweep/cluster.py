"""The engine of a Ray cluster. No shared file system: what a run writes on its node streams back to the driver.

A run is a Ray task that yields the changes in its folder. The driver applies them to its own folder, so that folder is
complete at the end, and a run whose node is lost goes on elsewhere from the last checkpoint that came back.
"""

import contextlib
import itertools
import logging
import select
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from shapo.experiment import Experiment
from shapo.experiments.sweep import mirror
from shapo.experiments.sweep.engine import Advanced, Begun, Ended, Event, Failure, Row
from shapo.experiments.sweep.modules import sources
from shapo.experiments.sweep.plan import Job
from shapo.experiments.sweep.process import GRACE, RunProcess
from shapo.runs.holding import RunInUse, held
from shapo.runs.provenance import release
from shapo.words import BadInput

SECONDS_BETWEEN_UPDATES = 1.0
CLEANING = 10.0
"""Seconds that a node gets to remove what a stopped run has written there."""
OURS, RUN, MODULES = "shapo-node-", "run", "modules"
"""What a node's temporary folder is called, and what it holds."""
PLACE = "{folder}"
"""Stands for the run's folder in a reason, because the driver's is another than the node's."""


class NoCluster(BadInput):
    """Ray is not installed, or there is no cluster at the address."""


class Update(NamedTuple):
    """What a node sends: what the run wrote, its newest iteration once there is one, and how it ended if it has."""

    changes: mirror.Changes
    row: Row | None
    ended: bool = False
    failure: Failure | None = None


class Order(NamedTuple):
    """What a node is sent."""

    experiment: Experiment
    begun: mirror.Changes
    """The run as far as the driver has it."""
    modules: mirror.Changes
    """The user's own code that the experiment names."""
    version: str
    """Of shapo on the driver."""


def train_on_node(order: Order) -> Iterator[Update]:
    """Train in a temporary folder of this node, and yield what is written there."""
    nothing = mirror.Changes([], [])
    if (ours := release()) != order.version:
        reason = f"a node has shapo {ours}, the driver {order.version}; install the same everywhere"
        yield Update(nothing, None, True, Failure(reason, "bad input"))
        return
    with _own_place() as place:
        folder, modules = place / RUN, place / MODULES
        mirror.apply(folder, order.begun)
        mirror.apply(modules, order.modules)
        source = mirror.Source(folder)
        yield Update(nothing, None)
        process = RunProcess(order.experiment, folder, [str(modules), *sys.path])
        try:
            newest, sent = None, 0.0
            while (rows := _receive(process)) is not None:
                newest = rows[-1] if rows else newest
                if rows and time.monotonic() - sent >= SECONDS_BETWEEN_UPDATES:
                    yield Update(source.changes(), newest)
                    sent = time.monotonic()
            failure = process.outcome()
        finally:
            process.close()
        failure = failure and _said_of(PLACE, folder, failure)
        last = Update(source.changes(), newest, True, failure)
    # Only now: whoever hears that all has ended may shut the node down before it has cleaned up.
    yield last


@contextlib.contextmanager
def _own_place() -> Iterator[Path]:
    """A temporary folder of this node, held as long as it is needed; those that a lost task left are removed."""
    for left in Path(tempfile.gettempdir()).glob(f"{OURS}*"):
        with contextlib.suppress(RunInUse, OSError), held(left):
            # One that is empty may be about to be held; one with anything else in it is somebody's own.
            if set() < {each.name for each in left.iterdir()} <= {RUN, MODULES}:
                shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=OURS) as place, held(Path(place)):
        yield Path(place)


def _receive(process: RunProcess) -> list[Row] | None:
    """As `process.receive`, but never waits for long: Ray cancels a task between two steps of Python only."""
    ready, _, _ = select.select([process], [], [], 0.5)
    return process.receive() if ready else []


def _said_of(new: str, old: object, failure: Failure) -> Failure:
    return failure._replace(reason=failure.reason.replace(str(old), new))


class Cluster:
    """Tasks on a Ray cluster."""

    def __init__(self, address: str | None):
        """Join the cluster at `address`; None: the one that Ray finds by itself, or a new one on this machine."""
        try:
            import ray  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise NoCluster(
                "the engine ray needs the package ray; install it with: pip install 'shapo[ray]'"
            ) from None
        if address:
            _knock(address)
        self._ray: Any = ray
        try:
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise NoCluster(
                f"no Ray cluster at {address or 'hand'}: {str(error).splitlines()[0]}"
            ) from None
        self._task = ray.remote(train_on_node)
        self._running: dict[Any, Job] = {}

    def has_room(self, job: Job) -> bool:
        """Always: Ray has a queue of its own, and an autoscaler that looks at it."""
        return True

    def start(self, job: Job) -> None:
        task = self._task.options(
            num_cpus=max(job.experiment.workers, 1),
            num_returns="streaming",
            max_retries=0,  # Ray would begin from scratch; we know the last checkpoint
            scheduling_strategy="SPREAD",
            name=job.name,
        )
        order = Order(
            job.experiment,
            mirror.needed_to_continue(job.folder),
            sources(job.experiment),
            release(),
        )
        self._running[task.remote(order)] = job

    def events(self, seconds: float) -> Sequence[Event]:
        ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=seconds)
        return list(itertools.chain.from_iterable(map(self._receive, ready)))

    def close(self) -> None:
        for stream in self._running:
            self._ray.cancel(stream)
        deadline = time.monotonic() + GRACE + CLEANING
        while self._running and time.monotonic() < deadline:
            self.events(1.0)
        self._ray.shutdown()

    def _receive(self, stream: Any) -> Iterator[Event]:
        job = self._running[stream]
        try:
            update: Update = self._ray.get(next(stream))
        except (self._ray.exceptions.RayError, StopIteration) as error:
            del self._running[stream]
            yield Ended(job.name, self._lost(error))
            return
        mirror.apply(job.folder, update.changes)
        yield Advanced(job.name, update.row) if update.row else Begun(job.name)
        if update.ended:
            del self._running[stream]
            failure = update.failure
            yield Ended(job.name, failure and _said_of(str(job.folder), PLACE, failure))

    def _lost(self, error: Exception) -> Failure:
        """A task that Ray could not bring to its end."""
        errors = self._ray.exceptions
        if isinstance(error, errors.RayTaskError):
            # Its text is a stack trace that ends with what was raised.
            return Failure(str(error).strip().splitlines()[-1])
        first_sentence = " ".join(str(error).split()).partition(". ")[0]
        own = isinstance(error, errors.RuntimeEnvSetupError | errors.OutOfMemoryError)
        return Failure(first_sentence or type(error).__name__, "error" if own else "lost")


def _knock(address: str) -> None:
    """Raise NoCluster unless something answers there; Ray itself would try for minutes."""
    if address in ("auto", "local"):
        return
    if address.startswith("ray://"):
        raise NoCluster(
            f"address {address}: Ray's client protocol cannot stream results; give the head node's own "
            "address (HOST:6379) from a machine of the cluster"
        )
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise NoCluster(f"address {address}: give it as HOST:PORT, as `ray start --head` prints it")
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise NoCluster(f"no Ray cluster at {address}: {error}") from None
