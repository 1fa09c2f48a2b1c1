"""Starting worker processes, and how many make sense."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import NamedTuple

from shapo import processor

SINGLE_THREADED = {
    name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
}  # fmt: skip
"""Workers are the parallelism; threads inside them would only fight over the same cores."""
PROGRAM = """
import sys
from shapo.rollout.processes import die_with
pipe, memory, parent = map(int, sys.argv[1:])
die_with(parent)  # before all the rest is imported, which takes a while
from shapo.rollout.worker import main
main(pipe, memory)
"""
PR_SET_PDEATHSIG = 1


class WorkerProcess(NamedTuple):
    """A worker process, seen from its parent."""

    index: int
    envs: range
    process: subprocess.Popen
    pipe: Connection


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def die_with(parent: int) -> None:
    """Never outlive the parent, even when stuck in an environment; elsewhere than on Linux, the closed pipe must do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise SystemExit("the parent is gone")


def start(index: int, envs: range, log: Path, memory: int) -> WorkerProcess:
    """A worker that waits for its `Hello`; `memory` is a descriptor that it inherits, `log` gets what it prints."""
    ours, theirs = Pipe()
    with contextlib.closing(theirs), open(log, "ab") as output:
        process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-c",
                PROGRAM,
                *map(str, (theirs.fileno(), memory, os.getpid())),
            ],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=(theirs.fileno(), memory),
            env=os.environ | SINGLE_THREADED | processor.environment(),
            process_group=0,  # Ctrl-C in a terminal is for the parent alone
        )
    return WorkerProcess(index, envs, process, ours)


def stop(worker: WorkerProcess, patience: float) -> None:
    """Wait until a worker that was told to end has done so; past `patience`, kill it.

    What it has started is killed with it, and also if it died of a signal, as by a crash: it could close nothing then.
    """
    try:
        code = worker.process.wait(max(0.0, patience))
    except subprocess.TimeoutExpired:
        code = -signal.SIGKILL
    if code < 0:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left
            os.killpg(worker.process.pid, signal.SIGKILL)
        worker.process.wait()
