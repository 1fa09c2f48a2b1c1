"""The files of a run are a function of its experiment, on any number of threads and cores, stopped or not, and on any
processor that has the common instructions.

As shipped and at the real size: small or unoptimised programs would hide what this is about, for XLA shares out only
large sums.
"""

import itertools
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_resume import same_files

from shapo import processor

STEPS = 40_000  # two iterations of 20,000 rows: what the first taught decides the second
# One process makes the run that all are compared with.
pytestmark = pytest.mark.xdist_group("determinism")
common = pytest.mark.skipif(
    processor.arithmetic() != processor.COMMON, reason="no common instructions"
)
ROOT = Path(__file__).parents[1]
CHOICES = [
    "--gradient", "shapo", "--env", "SafetyPointGoal1-v0", "--seed", "5",
    # Minibatches are too small to be shared out, so a few show as much as many.
    "--critic-epochs", "2",
]  # fmt: skip


OTHERWISE = {"OPENBLAS_CORETYPE": "Nehalem", "ONEDNN_MAX_CPU_ISA": "SSE41"}
"""Every x86 processor can do as this one of 2008 does."""


def shapo(*options, threads, cores, libraries=None):
    for_tests = ("XLA_FLAGS", "OPENBLAS_NUM_THREADS", *OTHERWISE)
    environment = {name: value for name, value in os.environ.items() if name not in for_tests}
    ours = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(ours)[:cores])  # which the process inherits
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "shapo", "train", *options],
            env=environment | {"PJRT_NPROC": str(threads)} | (libraries or {}),
            stdout=subprocess.DEVNULL,
        )
    finally:
        os.sched_setaffinity(0, ours)


def begun(folder, workers=2, threads=2, cores=2, libraries=None):
    sizes = ["--steps", str(STEPS), "--workers", str(workers), "--out", str(folder)]
    return shapo(*CHOICES, *sizes, threads=threads, cores=cores, libraries=libraries)


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    folder = tmp_path_factory.mktemp("usual") / "run"
    assert begun(folder).wait() == 0
    return folder


def test_begun_and_killed_on_some_threads_and_instructions_and_ended_on_others_is_the_same_run(
    usual, tmp_path
):
    folder = tmp_path / "run"
    process = begun(folder, workers=3, threads=4, libraries=OTHERWISE)
    while not (folder / "checkpoints" / "000000.safetensors").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert shapo("--resume", str(folder), threads=1, cores=1).wait() == 0
    same_files(folder, usual)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("threads", "workers", "cores"), [*itertools.product((1, 2, 4), (1, 2, 4), (1, 2))]
)
def test_threads_workers_and_cores_do_not_decide_a_bit(usual, tmp_path, threads, workers, cores):
    assert begun(tmp_path / "run", workers, threads, cores).wait() == 0
    same_files(tmp_path / "run", usual)


@common
@pytest.mark.parametrize("run", ["trpo_plain", "trpo-pid_shapo"])
def test_the_published_demo_comes_out_again_here(run):
    """Made on another machine, most likely. Has learning changed? Then `make demo`, and archive it anew."""
    row = ROOT / "docs" / "demo.runs.gz" / f"SafetyPointCircle1-v0_{run}_s0"
    words = [sys.executable, "-m", "shapo", "repeat", str(row), "--steps", "60000"]
    alone = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    found = subprocess.run(words, env=alone, capture_output=True, text=True)
    assert (found.returncode, found.stdout.count("the same in 3 rows")) == (0, 1), found.stderr


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("qemu-x86_64"), reason="apt-get install qemu-user")
@common
@pytest.mark.parametrize("kind", ["Haswell", "EPYC-Milan"])
def test_another_processor_makes_the_same_run(usual, tmp_path, kind):
    """The whole training, workers and all, emulated: other instructions, other sizes of the caches."""
    python, folder = tmp_path / "python", tmp_path / "run"
    python.write_text(f'#!/bin/sh\nexec qemu-x86_64 -cpu {kind} {sys.executable} "$@"\n')
    python.chmod(0o755)
    words = ["train", *CHOICES, "--steps", str(STEPS), "--workers", "2", "--out", str(folder)]
    program = f"import sys; sys.executable = {str(python)!r}; from shapo.cli.main import main; main({words!r})"
    caches = {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "jax"),
        "NUMBA_CACHE_DIR": str(tmp_path / "numba"),
    }
    alone = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    subprocess.run([python, "-c", program], env=alone | caches, check=True, capture_output=True)
    same_files(folder, usual)
