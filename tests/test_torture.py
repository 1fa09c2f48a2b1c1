"""A sample of `benchmarks/torture.py`: runs broken at random, and at every single system call of a write."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
EVERY_CALL = """
import sys
sys.path[:0] = sys.argv[1:]
import torture, breaking, paper, tempfile
from pathlib import Path
for at in range(paper.calls()):
    for fault in (breaking.Kill, breaking.Fill):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place).resolve() / "run"
            ended = breaking.in_child(lambda: paper.train(folder, fault(at)))
            named = ended.startswith(f"No space left on device: {folder}")
            assert ended in ("killed", "done") or named, (at, ended)
            paper.train(folder)
            paper.assert_perfect(folder)
print(paper.calls())
"""


# Nothing here tests the disk itself, so memory will do, where forcing files to it costs nothing.
MEMORY = {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}


def python(*words):
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | MEMORY)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_random_trials():
    said = python(BENCHMARKS / "torture.py", "--trials", 20, "--seed", 1, "--without-training")
    assert said.splitlines()[-1].split() == ["together", "20", "0"]


def test_every_system_call():
    assert int(python("-c", EVERY_CALL, BENCHMARKS)) > 60
