"""A worker process: steps its environments whenever the parent asks, over a pipe.

Its own program rather than a `multiprocessing` child, so that a user's script is not run a second time in it.
"""

import contextlib
import faulthandler
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection

import cloudpickle

from shapo.envs.closing import closed_if_refused
from shapo.envs.gymnasium_in import CannotReplay
from shapo.envs.heartbeat import heard_by
from shapo.envs.protocol import BatchEnv, Remark
from shapo.rollout.actions import actions_of
from shapo.rollout.collector import Collector, NotFinite
from shapo.rollout.contract import BreaksContract
from shapo.rollout.messages import (
    Allocate,
    Collect,
    Collected,
    Failed,
    Hello,
    Ready,
    Request,
    Reset,
    Restore,
    Spec,
    Wrap,
)
from shapo.rollout.sharing import Shared, share
from shapo.types import Batch
from shapo.words import BadInput

TRAINING_SEEDS_BELOW = 2_000_000_000
"""Training draws its environment seeds below this number."""


def env_seed(seed: int, env: int) -> int:
    """The seed of one environment of an experiment; neighbours get neighbouring numbers."""
    return seed * 1_000_003 % TRAINING_SEEDS_BELOW + env


class CannotWrap(BadInput):
    """The environment is none that the algorithm can learn in."""


class HungUp(Exception):
    """The parent has closed the pipe, or is gone."""


@contextlib.contextmanager
def _on_the_pipe() -> Iterator[None]:
    """Only what fails within is the pipe's failure: an environment may lose connections of its own."""
    try:
        yield
    except (EOFError, OSError) as error:  # an OSError is what half a message ends with
        raise HungUp from error


class Worker:
    """Answers the parent's requests until the pipe closes."""

    def __init__(self, hello: Hello, connection: Connection, memory: int):
        self._connection = connection
        self._memory = memory
        self._hello = hello
        self._shared: Shared | None = None
        sys.path[:] = hello.import_path
        self._first_seed = env_seed(hello.seed, hello.envs.start)
        blueprint = cloudpickle.loads(hello.blueprint)
        with warnings.catch_warnings(record=True) as said:
            env = blueprint.build(len(hello.envs), self._first_seed)
        self._notes = tuple(str(each.message) for each in said if each.category is Remark)
        for each in said:
            if each.category is not Remark:
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        with closed_if_refused(env):
            self._take(env)

    def serve(self) -> None:
        """Say what the environments are like, then do as asked."""
        self._say(self._spec())
        while True:
            match self._heard():
                case Wrap(wrapper):
                    self._wrap(wrapper)
                    self._say(self._spec())
                case Allocate(shape):
                    self._shared = share(self._memory, shape)
                case Reset():
                    self._collector.reset(self._first_seed)
                    self._say(Ready())
                case Restore(state):
                    with heard_by(self._beat):
                        self._collector.set_state(state)
                    self._say(Ready())
                case Collect() as order:
                    self._say(self._collect(order))

    def describe(self, error: Exception) -> str:
        """One line for a person: which environment, and what it did."""
        first, last = self._first_seed, self._first_seed + len(self._hello.envs) - 1
        if isinstance(error, NotFinite):
            return f"environment {self._env.id} with seed {first + error.env} {error}"
        return f"environment {self._env.id} with seeds {first} to {last} raised {_one_line(error)}"

    def close(self) -> None:
        """Have the environments free what they hold; what goes wrong there is for the log alone."""
        try:
            self._env.close()
        except Exception:
            _log_error()

    def _heard(self) -> Request:
        with _on_the_pipe():
            return self._connection.recv()

    def _say(self, reply: Spec | Ready | Collected) -> None:
        with _on_the_pipe():
            self._connection.send(reply)

    def _beat(self) -> None:
        if self._shared is not None:
            self._shared.heartbeat[self._hello.index] += 1

    def _take(self, env: BatchEnv) -> None:
        self._env = env
        self._collector = Collector(env, self._hello.seed, self._hello.envs.start)

    def _wrap(self, wrapper: bytes) -> None:
        try:
            self._take(cloudpickle.loads(wrapper)(self._env))
        except ValueError as error:
            raise CannotWrap(str(error)) from error

    def _spec(self) -> Spec:
        env, size = self._env, self._collector.observation_size
        actions = actions_of(env.action_space, env.id)
        return Spec(env.id, size, actions, env.num_costs, self._notes)

    def _collect(self, order: Collect) -> Collected:
        assert self._shared is not None
        columns = slice(self._hello.envs.start, self._hello.envs.stop)
        rows = Batch._make(field[:, columns] for field in self._shared.batches[order.slot])
        episodes = self._collector.collect(order.actor, order.iteration, rows, self._beat)
        return Collected(episodes, self._collector.get_state())


def _log_error() -> None:
    with contextlib.suppress(OSError):  # on a full disk; the parent must hear of it all the same
        traceback.print_exc()


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def main(pipe: int, memory: int) -> None:
    """Serve until the parent hangs up; `pipe` and `memory` are inherited file descriptors."""
    faulthandler.enable()  # a crash in somebody's C code leaves its place in the log
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = Connection(pipe)
    worker = None
    hello: Hello = connection.recv()
    try:
        worker = Worker(hello, connection, memory)
        signal.signal(signal.SIGTERM, _leave)
        worker.serve()
    except HungUp:
        pass
    except Exception as error:
        _log_error()
        refused = isinstance(error, CannotWrap | CannotReplay | BreaksContract)
        if refused or (worker is None and isinstance(error, BadInput)):
            failed = Failed(str(error), bad_input=True)
        elif worker:
            failed = Failed(worker.describe(error), bad_input=False)
        else:
            failed = Failed(
                f"environment {hello.env} cannot be made: {_one_line(error)}", bad_input=False
            )
        with contextlib.suppress(OSError):
            connection.send(failed)
        raise SystemExit(1) from None
    finally:
        try:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        finally:  # the parent hangs up and sends a signal: where that comes second, it may raise here
            if worker:
                worker.close()


def _leave(number: int, frame: object) -> None:
    raise SystemExit
