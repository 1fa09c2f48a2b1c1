"""How fast a whole training is, where its time goes, and how it compares to bare physics on the same cores."""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from shapo.envs.registry import IDS, canonical
from shapo.experiment import Experiment
from shapo.rollout.processes import available_cores
from shapo.training import train
from shapo.words import BadInput

PHYSICS_SECONDS = 3.0
SETTLING = 2
"""Iterations left out of the average: they compile."""


def measure_training(experiment: Experiment, iterations: int) -> dict[str, object]:
    """Train for a few iterations, records and checkpoints included, and say what took how long.

    Seconds per iteration are medians. `wait` is the time in which the learner had nothing to do but wait for the
    workers, so the collecting that overlaps with fitting does not show. Only our own environments have a bare physics
    to compare with.
    """
    if iterations <= SETTLING:
        raise BadInput(
            f"iterations is {iterations}; more than {SETTLING} are needed, the first ones compile"
        )
    experiment = experiment.replace(steps=iterations * experiment.batch_steps)
    cores = available_cores()
    # Before and after, because a machine that others use as well changes its speed within a minute.
    ours = canonical(experiment.env) in IDS
    physics = [bare_physics(experiment.env, cores)] if ours else []
    begin = time.perf_counter()
    seen: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        run = train(
            experiment,
            Path(folder) / "run",
            watch=lambda row: seen.append(time.perf_counter() - begin),
            quiet=True,
        )
        columns = run.history.columns
    spent = float(columns["time/seconds"][-1] - columns["time/seconds"][SETTLING - 1])
    speed = (iterations - SETTLING) * experiment.batch_steps / spent
    split = {
        name: float(np.median(columns[f"time/{name}"][SETTLING:]))
        for name in ("wait", "actor", "critics", "rest")
    }
    found: dict[str, object] = {
        "env": experiment.env,
        "algo": experiment.algo,
        "gradient": experiment.gradient,
        "iterations": iterations,
        "steps_per_second": speed,
        "seconds_per_iteration": split,
        "first_iteration_seconds": seen[0],
        "cores": cores,
    }
    if ours:
        physics.append(bare_physics(experiment.env, cores))
        bare = statistics.mean(physics)
        found |= {"bare_physics_steps_per_second": bare, "ratio_to_bare_physics": speed / bare}
    return found


def bare_physics(env: str, processes: int) -> float:
    """Steps per second of the physics alone, on that many cores at once: two busy cores are slower than one."""
    command = [
        sys.executable,
        "-m",
        "shapo",
        "bench",
        "env",
        "--json",
        "--env",
        env,
        "--seconds",
        str(PHYSICS_SECONDS),
    ]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(processes)]
    answers = [json.loads(process.communicate()[0]) for process in running]
    return sum(answer["bare_physics_steps_per_second"] for answer in answers)
