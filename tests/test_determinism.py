"""The files of a run are a function of its experiment, on any number of threads and cores, stopped or not.

As shipped and at the real size: small or unoptimised programs would hide what this is about, for XLA shares out only
large sums.
"""

import itertools
import os
import subprocess
import sys
import time

import pytest
from test_resume import same_files

STEPS = 40_000  # two iterations of 20,000 rows: what the first taught decides the second


pytestmark = pytest.mark.xdist_group(
    "determinism"
)  # one process makes the run that all are compared with
CHOICES = ["--gradient", "shapo", "--env", "SafetyPointGoal1-v0", "--seed", "5"]


def shapo(*options, threads, cores):
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    ours = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(ours)[:cores])  # which the process inherits
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "shapo", "train", *options],
            env=environment | {"PJRT_NPROC": str(threads)},
            stdout=subprocess.DEVNULL,
        )
    finally:
        os.sched_setaffinity(0, ours)


def begun(folder, workers=2, threads=2, cores=2):
    sizes = ["--steps", str(STEPS), "--workers", str(workers), "--out", str(folder)]
    return shapo(*CHOICES, *sizes, threads=threads, cores=cores)


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    folder = tmp_path_factory.mktemp("usual") / "run"
    assert begun(folder).wait() == 0
    return folder


@pytest.mark.parametrize(
    ("threads", "workers", "cores"),
    [
        pytest.param(
            *case, marks=() if case == (4, 3, 2) else pytest.mark.slow
        )
        for case in [(4, 3, 2), *itertools.product((1, 2, 4), (1, 2, 4), (1, 2))]
    ],
)  # fmt: skip
def test_threads_workers_and_cores_do_not_decide_a_bit(usual, tmp_path, threads, workers, cores):
    assert begun(tmp_path / "run", workers, threads, cores).wait() == 0
    same_files(tmp_path / "run", usual)


def test_nor_does_going_on_with_less_than_one_began(usual, tmp_path):
    folder = tmp_path / "run"
    process = begun(folder)
    while not (folder / "checkpoints" / "000000.safetensors").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert shapo("--resume", str(folder), threads=1, cores=1).wait() == 0
    same_files(folder, usual)
