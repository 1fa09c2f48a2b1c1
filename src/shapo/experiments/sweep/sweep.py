"""A sweep: starts what there is room for, retries what failed, lists what failed again, and stops for nobody else."""

import contextlib
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from shapo.experiment import Experiment
from shapo.experiments.sweep.cluster import Cluster
from shapo.experiments.sweep.engine import Advanced, Begun, Ended, Engine, Failure, Row
from shapo.experiments.sweep.local import Local
from shapo.experiments.sweep.pace import Pace
from shapo.experiments.sweep.plan import Job, Plan, plan
from shapo.experiments.sweep.screen import Screen, plan_table, screen, summary
from shapo.rollout.processes import available_cores
from shapo.runs.files import write_atomically
from shapo.runs.folder import FAILURE
from shapo.runs.holding import RunInUse, held
from shapo.runs.stopping import goes_on_when_repeated
from shapo.words import BadInput, counted

ENGINES = ("local", "ray")
ATTEMPTS = {"bad input": 1, "error": 2, "in use": 2, "lost": 10}
"""How often a run may go wrong in which way until it counts as failed."""
HEARTBEAT = 0.5
"""Seconds after which the screen is looked after even if nothing happens."""


class Outcome(NamedTuple):
    """What became of a sweep."""

    finished: list[Job]
    failed: list[tuple[Job, Failure]]

    def require_all(self) -> None:
        """Raise if a run has failed; call it when what is there has been shown."""
        if self.failed:
            failed = counted(len(self.failed), "run")
            raise RunsFailed(f"{failed} failed; the same command tries again")


class RunsFailed(Exception):
    """Some runs of a sweep are not finished; all others are."""


class SweepInUse(BadInput):
    """Another sweep is running in the folder."""


def run(
    experiments: Sequence[Experiment],
    out: str | Path,
    engine: str = "local",
    address: str | None = None,
    parallel: int | None = None,
) -> Outcome:
    """Train every experiment that `out` does not hold already, and return what became of each.

    Args:
        experiments: Each goes to a folder of its own in `out`; what was begun there is continued.
        out: Folder of the sweep's runs.
        engine: `local` for this machine, `ray` for a cluster.
        address: Of the Ray cluster; None for the one that Ray finds by itself, or a new one on this machine.
        parallel: Cores that the local engine uses; None for all.
    """
    if engine not in ENGINES:
        raise BadInput(f"unknown engine {engine!r}; use {' or '.join(ENGINES)}")
    if parallel is not None and parallel < 1:
        raise BadInput(f"parallel is {parallel}; at least one run at a time is needed")
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    with _alone_in(out), goes_on_when_repeated():
        planned = plan(experiments, out)
        return _executed(planned, engine, address, parallel)


def _executed(planned: Plan, engine: str, address: str | None, parallel: int | None) -> Outcome:
    with screen() as shown:
        shown.console.print(plan_table(planned))
        if all(job.finished for job in planned.jobs):
            outcome = Outcome(planned.jobs, [])
        else:
            made = Cluster(address) if engine == "ray" else Local(parallel or available_cores())
            with contextlib.closing(made):
                outcome = _worked(Sweep(planned.jobs, made, shown), shown)
    shown.console.print(summary(outcome.finished, outcome.failed))
    return outcome


def _worked(sweep: "Sweep", shown: Screen) -> Outcome:
    try:
        return sweep.work()
    except KeyboardInterrupt:
        shown.stopping()
        raise


class Sweep:
    """The state of a sweep that is going on."""

    def __init__(self, jobs: Sequence[Job], engine: Engine, shown: Screen):
        self._engine = engine
        self._screen = shown
        self._pace = Pace()
        self._jobs = {job.name: job for job in jobs}
        self._waiting = deque(job for job in jobs if not job.finished)
        self._started: set[str] = set()
        self._running: set[str] = set()
        """Those of the started that have got their place."""
        self._compiling: set[str] = set()
        """Those of the running whose first iteration is not done: it tells nothing of the pace of the others."""
        self._mishaps: Counter[tuple[str, str]] = Counter()
        """By run and kind of failure."""
        self._failed: dict[str, Failure] = {}

    def work(self) -> Outcome:
        """Until every run is finished or given up."""
        while self._waiting or self._started:
            while self._waiting and self._engine.has_room(self._waiting[0]):
                self._start(self._waiting.popleft())
            for event in self._engine.events(HEARTBEAT):
                match event:
                    case Begun(name):
                        self._begin(name)
                    case Advanced(name, row):
                        self._advance(name, row)
                    case Ended(name, failure):
                        self._end(name, failure)
            self._show()
        finished = [job for job in self._jobs.values() if job.name not in self._failed]
        return Outcome(finished, [(self._jobs[name], why) for name, why in self._failed.items()])

    def _start(self, job: Job) -> None:
        with contextlib.suppress(OSError):  # if nothing can be written there, its run will say so
            (job.folder / FAILURE).unlink(missing_ok=True)
        self._started.add(job.name)
        self._engine.start(job)

    def _begin(self, name: str) -> None:
        if name not in self._running:
            self._running.add(name)
            self._compiling.add(name)
            self._screen.begun(self._jobs[name])

    def _advance(self, name: str, row: Row) -> None:
        job = self._jobs[name] = self._jobs[name]._replace(done=int(row["iteration"]) + 1)
        if name not in self._compiling:
            self._pace.note(job, row)
        self._compiling.discard(name)
        self._screen.advanced(job, row)

    def _end(self, name: str, failure: Failure | None) -> None:
        self._started.remove(name)
        self._running.discard(name)
        job = self._jobs[name]
        if failure is None:
            self._jobs[name] = job = job._replace(done=job.experiment.iterations)
            self._screen.ended(job, None, again=False)
            return
        self._mishaps[name, failure.kind] += 1
        again = self._mishaps[name, failure.kind] < ATTEMPTS[failure.kind]
        self._screen.ended(job, failure, again)
        if again:
            self._waiting.append(job)
            return
        self._failed[name] = failure
        if job.folder.is_dir() and failure.kind != "in use":  # there, somebody else is at work
            with contextlib.suppress(OSError):
                note = f"{failure.reason}\n".encode(errors="replace")
                write_atomically(job.folder / FAILURE, note)

    def _show(self) -> None:
        names = [*self._started, *(job.name for job in self._waiting)]
        unfinished = [self._jobs[name] for name in names]
        left = self._pace.seconds_left(unfinished, len(self._running))
        counts = {
            "finished": len(self._jobs) - len(unfinished) - len(self._failed),
            "running": len(self._running),
            "waiting": len(unfinished) - len(self._running),
            "failed": len(self._failed),
        }
        self._screen.show(counts, left)


@contextlib.contextmanager
def _alone_in(out: Path) -> Iterator[None]:
    """Hold the folder for this sweep."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(held(out))
        except RunInUse:
            raise SweepInUse(
                f"another sweep is running in {out}; wait for it or choose another folder"
            ) from None
        yield
