"""A training of paper: it does with a run's folder what `shapo.train` does, but its numbers cost nothing."""

import contextlib
import dataclasses
import functools
import tempfile
from pathlib import Path

import numpy as np
from breaking import Count
from hostile import EXPERIMENT as SHORT
from hostile import POLICY

from shapo.runs.folder import Run
from shapo.runs.integrity import check
from shapo.runs.resuming import where_to_go_on
from shapo.runs.writing import RunWriter

ITERATIONS = 3
EXPERIMENT = SHORT.replace(steps=ITERATIONS * SHORT.batch_steps)
RESULTS = ("progress.csv", "episodes.csv", "policy.safetensors")


def train(folder: Path, fault: Count | None = None, iterations: int = ITERATIONS) -> list[str]:
    """Begin or continue, up to so many iterations, while `fault` counts; returns what it warned of."""
    with fault or contextlib.nullcontext():
        begun = (folder / "config.json").exists()
        run = Run.open(folder) if begun else Run.create(folder, EXPERIMENT)
        with run.locked():
            start = where_to_go_on(run)
            if not start.finished:
                first = start.checkpoint.iteration + 1 if start.checkpoint else 0
                with contextlib.closing(RunWriter(run, start.checkpoint)) as writer:
                    for iteration in range(first, min(iterations, run.experiment.iterations)):
                        _write(writer, iteration)
                    if iterations >= run.experiment.iterations:
                        writer.finish()
        return start.notes


def _write(writer: RunWriter, iteration: int) -> None:
    rng = np.random.default_rng(iteration)
    steps = (iteration + 1) * EXPERIMENT.batch_steps
    row = {"iteration": iteration, "steps": steps, "reward/episode": float(rng.normal())}
    episodes = [
        {"iteration": iteration, "steps": steps, "return": float(rng.normal()), "cost": 1.0}
        for _ in range(iteration)
    ]
    actor = POLICY.actor._replace(mean=rng.normal(size=3).astype(np.float32))
    policy = dataclasses.replace(POLICY, actor=actor)
    writer.write(row, episodes, {"state": rng.normal(size=50)}, {"seconds": "1"}, policy)


def assert_perfect(folder: Path) -> None:
    """As if it had never been stopped, and nothing left lying about."""
    for name, content in _whole()[1].items():
        assert (folder / name).read_bytes() == content, f"{name} is not as it would have been"
    assert check(folder) == [], check(folder)
    left = sorted(path.name for path in folder.rglob(".*"))
    assert not left, f"left behind: {left}"
    kept = sorted(path.name for path in (folder / "checkpoints").glob("*"))
    # One that somebody has removed from a finished run is nobody's loss.
    assert set(kept) <= {f"{i:06d}.safetensors" for i in range(ITERATIONS - 2, ITERATIONS)}, kept


def calls() -> int:
    """How many system calls that change something a whole training makes."""
    return _whole()[0]


@functools.cache
def _whole() -> tuple[int, dict[str, bytes]]:
    with tempfile.TemporaryDirectory() as place:
        count = Count()
        train(Path(place) / "run", count)
        return count.calls, {name: (Path(place) / "run" / name).read_bytes() for name in RESULTS}
