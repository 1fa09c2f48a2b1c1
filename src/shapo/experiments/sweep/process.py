"""One run in a process of its own: how it is started, listened to and stopped."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from shapo.experiment import Experiment
from shapo.experiments.sweep import child
from shapo.experiments.sweep.engine import Failure, Row
from shapo.rollout.crew import CLOSING
from shapo.rollout.processes import SINGLE_THREADED

PROGRAM = "from shapo.experiments.sweep.child import main; main()"
GRACE = CLOSING + 10.0
"""Seconds that a run gets to stop by itself: its environments first, and who kills it sooner leaves those behind."""


class RunProcess:
    """A training that reports each iteration. Never outlives this process."""

    def __init__(self, experiment: Experiment, folder: Path, import_path: Sequence[str]):
        """Begin or continue the run in `folder`; Python modules are looked for along `import_path`."""
        self._failure: Failure | None = None
        self._pending = b""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=os.environ | SINGLE_THREADED,
            process_group=0,  # Ctrl-C in a terminal is for the sweep alone
        )
        assert self._process.stdin and self._process.stdout
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        # If it has died already, it is `outcome` that tells.
        with contextlib.suppress(BrokenPipeError):
            self._stdin.write(child.order(experiment, folder, import_path).encode())
            self._stdin.flush()

    def fileno(self) -> int:
        """Readable when `receive` would not have to wait."""
        return self._stdout.fileno()

    def receive(self) -> list[Row] | None:
        """The iterations since the last call (waits until the process says anything); None when it has ended."""
        heard = os.read(self.fileno(), 1 << 20)
        if not heard:
            return None
        *lines, self._pending = (self._pending + heard).split(b"\n")
        rows = []
        for message in map(json.loads, lines):
            if "failure" in message:
                self._failure = Failure(*message["failure"])
            else:
                rows.append(message["row"])
        return rows

    def outcome(self) -> Failure | None:
        """How the process ended, which it has; None if its run is finished."""
        code = self._process.wait()
        if code == 0 or self._failure:
            return self._failure
        how = f"was killed by signal {-code}" if code < 0 else f"exited with code {code}"
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(said) if line.strip()), "")
        return Failure(f"its process {how}{last and ': '}{last}")

    def ask_to_stop(self) -> None:
        """Have it close its files and leave, soon."""
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()

    def close(self) -> None:
        """Stop it and free everything."""
        self.ask_to_stop()
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stdout.close()
        self._errors.close()
