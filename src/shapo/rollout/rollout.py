"""The parent's side of collecting: starts the workers, hands out policies, takes batches, and cleans up."""

import functools
import os
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import cloudpickle
import numpy as np

from shapo.envs.protocol import Wrapper
from shapo.envs.states import joined
from shapo.rollout.acting import Actor
from shapo.rollout.blueprint import Blueprint
from shapo.rollout.messages import (
    Allocate,
    Collect,
    Collected,
    Failed,
    Hello,
    Request,
    Reset,
    Restore,
    Spec,
    State,
    Wrap,
)
from shapo.rollout.processes import WorkerProcess, available_cores, start, stop
from shapo.rollout.sharing import SLOTS, Shape, Shared, anonymous_file, share
from shapo.rollout.worker import env_seed
from shapo.types import Batch, Episodes
from shapo.words import BadInput

PATIENCE = 300.0
"""Seconds without a single environment step after which a worker counts as stuck."""

LOOKS = 4
"""So often at least is a sign of life missed before patience ends. Where much time has passed between two looks, we
slept ourselves, and it counts as one: who stops a training as a whole, by Ctrl-Z for one, and lets it go on later, must
not have its environments called stuck."""
CLOSING = 10.0
"""Seconds that environments get to close; then they are killed."""


class RolloutError(RuntimeError):
    """A worker died, or its environments raised, returned NaN or got stuck."""


class Experience(NamedTuple):
    """One iteration's yield."""

    batch: Batch
    """In shared memory: valid until the collection after the next begins."""
    episodes: Episodes
    state: State
    """Of every environment at the end of the batch: what a resumed training starts from."""


class Rollout:
    """Environments in worker processes. A context manager: however it is left, no process or memory stays behind."""

    def __init__(
        self,
        blueprint: Blueprint,
        log: Path,
        patience: float = PATIENCE,
    ):
        """Start the workers and return at once; `spec` waits for them. `log` gets what they print."""
        experiment = blueprint.experiment
        count = min(experiment.workers or available_cores(), experiment.num_envs)
        self._experiment = experiment
        self._log = log
        self._patience = patience
        self._wrapped: Spec | None = None
        self._shared: Shared | None = None
        self._memory = anonymous_file()
        self._slot = 0
        self._workers: list[WorkerProcess] = []
        try:
            shares = np.array_split(np.arange(experiment.num_envs), count)
            for index, envs in enumerate(shares):
                share_of_envs = range(int(envs[0]), int(envs[-1]) + 1)
                self._workers.append(start(index, share_of_envs, log, self._memory))
            described = cloudpickle.dumps(blueprint)
            import_path = list(sys.path)
            for worker in self._workers:
                hello = Hello(
                    experiment.env,
                    described,
                    import_path,
                    worker.index,
                    worker.envs,
                    experiment.seed,
                )
                self._send(worker, hello)
        except BaseException:
            self.close()
            raise

    @functools.cached_property
    def bare(self) -> Spec:
        """What the environments are like by themselves; the first look waits until every worker has built its own."""
        # Importing and building are no steps: however few seconds a step may take, this may take longer.
        return self._answers("was not built within", max(self._patience, PATIENCE))[0]

    def wrap(self, wrapper: Wrapper) -> None:
        """Change the environments to what an algorithm wants; only before the first look at `spec`."""
        assert self.bare and "spec" not in vars(self)
        pickled = cloudpickle.dumps(wrapper)
        self._tell(lambda worker: Wrap(pickled))
        self._wrapped = self._answers()[0]

    @functools.cached_property
    def spec(self) -> Spec:
        """What the environments are like as the algorithm sees them; the first look makes room for batches of it."""
        spec = self._wrapped or self.bare
        choice = self._experiment
        sizes = spec.observation, spec.actions.size, spec.costs
        shape = Shape(choice.steps_per_env, choice.num_envs, *sizes, len(self._workers))
        self._shared = share(self._memory, shape)
        self._tell(lambda worker: Allocate(shape))
        return spec

    def reset(self) -> None:
        """Begin the training's episodes."""
        self._tell_and_wait(lambda worker: Reset())

    def restore(self, state: State) -> None:
        """Continue from an `Experience.state`."""

        def own(worker: WorkerProcess) -> Restore:
            return Restore({k: v[worker.envs.start : worker.envs.stop] for k, v in state.items()})

        self._tell_and_wait(own)

    def begin(self, iteration: int, actor: Actor) -> None:
        """Have the workers collect a batch with `actor`, and return at once."""
        self._slot = iteration % SLOTS
        self._tell(lambda worker: Collect(actor, iteration, self._slot))

    def finish(self) -> Experience:
        """Wait for the batch begun last."""
        assert self._shared is not None
        parts: list[Collected] = self._answers()
        episodes = Episodes._make(
            map(np.concatenate, zip(*(part.episodes for part in parts), strict=True))
        )
        order = np.lexsort((episodes.env, episodes.step))
        state = {name: joined([part.state[name] for part in parts]) for name in parts[0].state}
        return Experience(
            self._shared.batches[self._slot],
            Episodes._make(field[order] for field in episodes),
            state,
        )

    def close(self) -> None:
        """End every worker, have its environments closed, and free the shared memory."""
        for worker in self._workers:
            worker.pipe.close()
            # A worker in the middle of a batch would finish it first; nobody wants that batch any more.
            worker.process.terminate()
        deadline = time.monotonic() + CLOSING
        for worker in self._workers:
            stop(worker, deadline - time.monotonic())
        self._workers = []
        self._shared = None
        if self._memory >= 0:
            os.close(self._memory)
            self._memory = -1

    def __enter__(self) -> "Rollout":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:  # fmt: skip
        self.close()

    def _tell(self, request: Callable[[WorkerProcess], Request]) -> None:
        for worker in self._workers:
            self._send(worker, request(worker))

    def _tell_and_wait(self, request: Callable[[WorkerProcess], Request]) -> None:
        # A pipe holds less than a large policy: whoever is told more while stuck in an environment never takes it, and
        # to wait for that knows no patience.
        self._tell(request)
        self._answers()

    def _send(self, worker: WorkerProcess, message: tuple) -> None:
        try:
            worker.pipe.send(message)
        except ConnectionError:
            self._receive(worker)
            raise

    def _answers(self, lateness: str = "made no step for", patience: float | None = None) -> list:
        """Each worker's reply, in the workers' order; one that gives no sign of life is late."""
        patience = self._patience if patience is None else patience
        pause = patience / LOOKS
        replies = {}
        waiting = {worker.pipe: worker for worker in self._workers}
        silence, looked, beats = 0.0, time.monotonic(), self._beats()
        while waiting:
            ready = wait(list(waiting), timeout=min(pause, 1.0))
            for pipe in ready:
                worker = waiting.pop(pipe)  # type: ignore[arg-type]
                replies[worker.index] = self._receive(worker)
            for worker in waiting.values():
                # Its end of the pipe stays open where its environments have forked and left somebody behind.
                if worker.process.poll() is not None and not worker.pipe.poll():
                    raise self._stopped(worker)
            elapsed, now = time.monotonic() - looked, self._beats()
            silence = 0.0 if ready or now != beats else silence + min(elapsed, pause)
            looked, beats = looked + elapsed, now
            if silence >= patience:
                raise self._error(next(iter(waiting.values())), f"{lateness} {patience:g} s")
        return [replies[worker.index] for worker in self._workers]

    def _beats(self) -> bytes:
        return b"" if self._shared is None else self._shared.heartbeat.tobytes()

    def _receive(self, worker: WorkerProcess):
        try:
            reply = worker.pipe.recv()
        except (EOFError, ConnectionError):
            raise self._stopped(worker) from None
        if isinstance(reply, Failed):
            if reply.bad_input:
                raise BadInput(reply.reason)
            raise RolloutError(f"{reply.reason}; log: {self._log}")
        return reply

    def _stopped(self, worker: WorkerProcess) -> RolloutError:
        code = worker.process.wait()
        how = f"was killed by signal {-code}" if code < 0 else f"exited with code {code}"
        return self._error(worker, f"stopped: its worker process {how}")

    def _error(self, worker: WorkerProcess, what: str) -> RolloutError:
        seed, name = self._experiment.seed, self._experiment.env
        first, last = (env_seed(seed, i) for i in (worker.envs[0], worker.envs[-1]))
        return RolloutError(
            f"environment {name} with seeds {first} to {last} {what}; log: {self._log}"
        )
