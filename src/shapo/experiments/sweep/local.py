"""The engine of one machine: a process per run, as many at once as there are cores."""

import selectors
import sys
from collections.abc import Sequence

from shapo.experiments.sweep.engine import Advanced, Begun, Ended, Event, Failure
from shapo.experiments.sweep.plan import Job
from shapo.experiments.sweep.process import RunProcess


class Local:
    """Processes on this machine."""

    def __init__(self, cores: int):
        self._free = cores
        self._cores = cores
        self._running: dict[str, tuple[Job, RunProcess]] = {}
        self._begun: list[Begun] = []
        self._selector = selectors.DefaultSelector()

    def has_room(self, job: Job) -> bool:
        return self._need(job) <= self._free

    def start(self, job: Job) -> None:
        process = RunProcess(job.experiment, job.folder, sys.path)
        self._running[job.name] = job, process
        self._free -= self._need(job)
        self._begun.append(Begun(job.name))
        self._selector.register(process, selectors.EVENT_READ, job.name)

    def events(self, seconds: float) -> Sequence[Event]:
        found: list[Event] = [*self._begun]
        self._begun.clear()
        for key, _ in self._selector.select(0 if found else seconds):
            job, process = self._running[key.data]
            rows = process.receive()
            if rows is None:
                found.append(Ended(job.name, self._finish(job, process)))
            else:
                found += [Advanced(job.name, row) for row in rows]
        return found

    def close(self) -> None:
        processes = [process for _, process in self._running.values()]
        for process in processes:
            process.ask_to_stop()
        for process in processes:
            process.close()
        self._running = {}
        self._selector.close()

    def _finish(self, job: Job, process: RunProcess) -> Failure | None:
        self._selector.unregister(process)
        del self._running[job.name]
        self._free += self._need(job)
        failure = process.outcome()
        process.close()
        return failure

    def _need(self, job: Job) -> int:
        """Cores: one per worker, and all of them for a run that takes what there is (0) or wants more."""
        return min(job.experiment.workers or self._cores, self._cores)
