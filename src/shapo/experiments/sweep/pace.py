"""How long a sweep will take, from how fast its runs have been so far."""

from collections.abc import Iterable

import numpy as np

from shapo.experiments.sweep.engine import Row
from shapo.experiments.sweep.plan import Job

NEWS = 0.3
"""Weight of the latest iteration in a run's speed."""


class Pace:
    """Speeds seen, by environment: what a step costs depends on little else."""

    def __init__(self) -> None:
        self._speeds: dict[str, dict[str, float]] = {}

    def note(self, job: Job, row: Row) -> None:
        """Take in an iteration; a run's latest count most."""
        now, here = row["time/steps_per_second"], self._speeds.setdefault(job.experiment.env, {})
        here[job.name] = NEWS * now + (1 - NEWS) * here.get(job.name, now)

    def seconds_left(self, jobs: Iterable[Job], at_once: int) -> float | None:
        """Until all jobs are finished, so many `at_once`; None if nobody can know yet."""
        known = [speed for speeds in self._speeds.values() for speed in speeds.values()]
        if not known:
            return None
        seconds = []
        for job in jobs:
            here = list(self._speeds.get(job.experiment.env, {}).values()) or known
            seconds.append(job.lacking * job.experiment.batch_steps / float(np.mean(here)))
        return max(sum(seconds) / max(at_once, 1), max(seconds, default=0.0))
