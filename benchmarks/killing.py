"""Real trainings, killed at random moments: the learner or one of its workers."""

import functools
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from shapo.runs.integrity import check

TESTS = Path(__file__).parents[1] / "tests"
ENV = ["--env", "toy_env:Slow"]
TINY = [
    *ENV, "--algo", "trpo", "--num-envs", "4", "--steps-per-env", "50", "--workers", "2", "--hidden", "16",
    "--critic-epochs", "1", "--steps", "2000", "--seed", "2",
]  # fmt: skip


def trial(rng: random.Random, place: Path) -> None:
    """A training, killed at random moments; resumed, it ends as one that was never stopped."""
    seconds, whole = _never_stopped()
    folder = place / "run"
    for _ in range(rng.randint(1, 3)):
        process = _start(folder)
        time.sleep(rng.uniform(0, seconds))
        family = _family(process.pid)
        if family:
            os.kill(rng.choice(family), signal.SIGKILL)
        said = process.communicate()[1]
        assert process.returncode in (0, 1, -signal.SIGKILL), f"{process.returncode}: {said}"
        there = [psutil.Process(pid) for pid in family if psutil.pid_exists(pid)]
        _, left = psutil.wait_procs(there, timeout=10)
        assert not left, f"left running: {left}"
    process = _start(folder)
    said = process.communicate()[1]
    assert process.returncode == 0, said
    assert _results(folder) == whole, "the files are not those of a training that was never stopped"
    assert check(folder) == [], check(folder)


def _start(folder: Path) -> subprocess.Popen:
    begun = (folder / "config.json").exists()
    words = ["--resume", str(folder), *ENV] if begun else ["--out", str(folder), *TINY]
    command = [sys.executable, "-m", "shapo", "train", *words]
    return subprocess.Popen(
        command, cwd=TESTS, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def _family(pid: int) -> list[int]:
    try:
        return [pid, *(child.pid for child in psutil.Process(pid).children())]
    except psutil.NoSuchProcess:
        return []


@functools.cache
def _never_stopped() -> tuple[float, list]:
    place = Path(tempfile.mkdtemp(prefix="torture-"))
    try:
        begin = time.monotonic()
        _, said = _start(place / "run").communicate()
        assert not said, said
        return time.monotonic() - begin, _results(place / "run")
    finally:
        shutil.rmtree(place)


def _results(folder: Path) -> list:
    """The numbers of the run and its policy; how long things took is left out."""
    tables = []
    for name in ("progress.csv", "episodes.csv"):
        lines = [line.split(",") for line in (folder / name).read_text().splitlines()]
        kept = [i for i, column in enumerate(lines[0]) if not column.startswith("time/")]
        tables.append([[line[i] for i in kept] for line in lines])
    return [*tables, (folder / "policy.safetensors").read_bytes()]
