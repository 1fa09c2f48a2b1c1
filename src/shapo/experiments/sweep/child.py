"""The program of one run of a sweep: takes an order on standard input, trains, and writes a line per iteration.

Standard input stays open as long as somebody wants the run: when it closes, whether the sweep was stopped, killed or
lost with its machine, the run stops, too.
"""

import dataclasses
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from shapo.experiment import Experiment
from shapo.experiments.sweep.engine import Failure, Kind
from shapo.runs.absent import is_run
from shapo.runs.holding import RunInUse
from shapo.training import train
from shapo.words import BadInput


def order(experiment: Experiment, folder: Path, import_path: Sequence[str]) -> str:
    """What `main` reads: one line."""
    content = {
        "experiment": dataclasses.asdict(experiment),
        "folder": str(folder),
        "import_path": list(import_path),
    }
    return json.dumps(content) + "\n"


def main() -> None:
    """Train as ordered."""
    messages = _private_output()
    wanted = json.loads(sys.stdin.readline())
    threading.Thread(target=_stop_when_unwanted, daemon=True).start()
    sys.path[:] = wanted["import_path"]
    experiment = Experiment(**wanted["experiment"])
    folder = Path(wanted["folder"])

    def tell(kind: str, content: object) -> None:
        print(json.dumps({kind: content}), file=messages, flush=True)

    try:
        watch = lambda row: tell("row", dict(row))
        train(experiment, folder, resume=is_run(folder), watch=watch, quiet=True)
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except Exception as error:
        tell("failure", _failure(error))
        raise SystemExit(1) from None


def _failure(error: Exception) -> Failure:
    text = " ".join(str(error).split())
    ours = isinstance(error, BadInput) or type(error).__module__.startswith("shapo.")
    kind: Kind = "bad input" if isinstance(error, BadInput) else "error"
    if isinstance(error, RunInUse):
        kind = "in use"
    return Failure(text if ours else f"{type(error).__name__}: {text}", kind)


def _private_output() -> TextIO:
    """Standard output for our messages alone; what others print goes to standard error."""
    own = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return own


def _stop_when_unwanted() -> None:
    # Not `sys.stdin.read`, whose lock a thread must not hold while the interpreter shuts down.
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
