"""The workers of a training: started together, told what to do, waited for with patience, and ended."""

import os
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np

from shapo.rollout.blueprint import Blueprint
from shapo.rollout.messages import Allocate, Failed, Hello, Request, Spec
from shapo.rollout.processes import WorkerProcess, available_cores, start, stop
from shapo.rollout.sharing import Shape, Shared, anonymous_file, share
from shapo.rollout.worker import env_seed
from shapo.words import BadInput

PATIENCE = 300.0
"""Seconds without a single environment step after which a worker counts as stuck."""
LOOKS = 4
"""We look for signs of life at least so often before patience ends, and no pause counts for more than its share of it:
where much time has passed between two looks, we slept ourselves. Who stops a training as a whole, by Ctrl-Z for one,
and lets it go on later, must not be told that its environments are stuck."""
CLOSING = 10.0
"""Seconds that environments get to close; then they are killed."""


class RolloutError(RuntimeError):
    """A worker died, or its environments raised, returned NaN or got stuck."""


class Crew:
    """Worker processes, each with its share of the environments, and the memory that all of them see."""

    def __init__(self, blueprint: Blueprint, log: Path, patience: float):
        """Start them and return at once. `log` gets what they print."""
        experiment = blueprint.experiment
        count = min(experiment.workers or available_cores(), experiment.num_envs)
        self.workers: list[WorkerProcess] = []
        self.shared: Shared | None = None
        self._memory = anonymous_file()
        self._experiment = experiment
        self._log = log
        self._patience = patience
        try:
            shares = np.array_split(np.arange(experiment.num_envs), count)
            for index, envs in enumerate(shares):
                own = range(int(envs[0]), int(envs[-1]) + 1)
                self.workers.append(start(index, own, log, self._memory))
            described = pickled(blueprint, experiment.env)
            path, seed = list(sys.path), experiment.seed
            self.tell(lambda w: Hello(experiment.env, described, path, w.index, w.envs, seed))
        except BaseException:
            self.close()
            raise

    def tell(self, message: Callable[[WorkerProcess], Request | Hello]) -> None:
        """Send each worker what `message` says for it."""
        for worker in self.workers:
            try:
                worker.pipe.send(message(worker))
            except ConnectionError:
                self._receive(worker)
                raise

    def ask(self, message: Callable[[WorkerProcess], Request]) -> list[Any]:
        """Tell them, and wait for their replies before anything else is sent.

        A pipe holds less than a large policy: whoever is told more while stuck in an environment never takes it, and to
        wait for that knows no patience.
        """
        self.tell(message)
        return self.answers()

    def allocate(self, spec: Spec) -> None:
        """Make room for batches from environments that are like this, seen by all."""
        sizes = spec.observation, spec.actions.size, spec.costs
        choice = self._experiment
        shape = Shape(choice.steps_per_env, choice.num_envs, *sizes, len(self.workers))
        self.shared = share(self._memory, shape)
        self.tell(lambda worker: Allocate(shape))

    def answers(self) -> list[Any]:
        """Each worker's reply, in the workers' order; one that gives no sign of life is late."""
        return self._answers("made no step for", self._patience)

    def first_answers(self) -> list[Any]:
        """The same of what is answered once the environments are built."""
        # Importing and building are no steps: however few seconds a step may take, this may take longer.
        return self._answers("was not built within", max(self._patience, PATIENCE))

    def close(self) -> None:
        """End every worker, have its environments closed, and free the shared memory."""
        for worker in self.workers:
            worker.pipe.close()
            # A worker in the middle of a batch would finish it first; nobody wants that batch any more.
            worker.process.terminate()
        deadline = time.monotonic() + CLOSING
        for worker in self.workers:
            stop(worker, deadline - time.monotonic())
        self.workers = []
        self.shared = None
        if self._memory >= 0:
            os.close(self._memory)
            self._memory = -1

    def _answers(self, lateness: str, patience: float) -> list[Any]:
        pause = patience / LOOKS
        replies = {}
        waiting = {worker.pipe: worker for worker in self.workers}
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
        return [replies[worker.index] for worker in self.workers]

    def _beats(self) -> bytes:
        return b"" if self.shared is None else self.shared.heartbeat.tobytes()

    def _receive(self, worker: WorkerProcess) -> Any:
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


def pickled(blueprint_or_wrapper: object, env: str) -> bytes:
    """By value, so that what a user has defined in a script or notebook needs no module to import it from."""
    try:
        return cloudpickle.dumps(blueprint_or_wrapper)
    except Exception as error:  # whatever the objects within raise
        raise BadInput(
            f"{env} cannot be sent to the workers: {error}; "
            "make what cannot be pickled inside of the function that makes the environment"
        ) from error
