"""Things that go wrong, done for real: each ends with one line and a checkpoint, and leaves nothing running."""

import os
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pytest
from test_rollout import shared_memory
from test_train import TINY as EXPERIMENT
from test_train import table_without_time
from toy_env import Toy
from waiting import PATIENCE, wait_until

from shapo import training
from shapo.rollout.worker import env_seed
from shapo.runs.folder import Run
from shapo.training import TrainingError

HERE = Path(__file__).parent
TINY = [
    "--algo", "trpo", "--num-envs", "4", "--steps-per-env", "50", "--workers", "2", "--hidden", "8",
    "--critic-epochs", "1", "--steps", "1600", "--seed", "2",
]  # fmt: skip
# One process trains the run that others are compared with, and compiles for all who train the toy.
pytestmark = pytest.mark.xdist_group("toy")


def shapo(*words, wrapper=()):
    command = [*wrapper, sys.executable, "-m", "shapo", *map(str, words)]
    return subprocess.Popen(
        command, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def train(env, out, *more, wrapper=()):
    return shapo("train", "--env", f"toy_env:{env}", "--out", out, *TINY, *more, wrapper=wrapper)


def wait_for(condition, process):
    def either():
        assert process.poll() is None, process.communicate()
        return condition()

    wait_until(either)


def rows(folder):
    path = folder / "progress.csv"
    return max(0, path.read_text().count("\n") - 1) if path.exists() else 0


def workers_of(process):
    return [
        p
        for p in psutil.Process(process.pid).children()
        if "shapo.rollout.worker" in " ".join(p.cmdline())
    ]


def ended(process, workers=()):
    """Its exit code and its one line of error; also makes sure that nothing is left running."""
    _, error = process.communicate(timeout=PATIENCE)
    _, alive = psutil.wait_procs(list(workers), timeout=PATIENCE)
    assert not alive
    lines = error.strip().splitlines()
    assert len(lines) <= 1, error
    return process.returncode, lines[0] if lines else ""


@pytest.fixture(scope="module")
def never_stopped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    process = train("Held", folder)
    assert ended(process) == (0, "")
    return folder


def assert_resumes(folder, never_stopped, env="toy_env:Held"):
    assert ended(shapo("train", "--resume", folder, "--env", env)) == (0, "")
    for name in ("progress.csv", "episodes.csv"):
        assert table_without_time(folder / name) == table_without_time(never_stopped / name)


def test_kill_the_learner(never_stopped, tmp_path, hold):
    process = train("Held", tmp_path / "run")
    wait_for(lambda: rows(tmp_path / "run") >= 2, process)
    workers = workers_of(process)
    assert len(workers) == 2
    # It has no name, so that nothing of it is left when the last of these processes is gone.
    assert [shared_memory(each) for each in (psutil.Process(process.pid), *workers)] == [1, 1, 1]
    process.kill()
    assert ended(process, workers)[0] == -signal.SIGKILL
    hold.unlink()
    assert_resumes(tmp_path / "run", never_stopped)


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stop_by_signal(tmp_path, hold, number, code):
    process = train("Held", tmp_path / "run")
    wait_for(lambda: rows(tmp_path / "run") >= 2, process)
    workers = workers_of(process)
    process.send_signal(number)
    advice = f"shapo train --resume {tmp_path / 'run'} --env toy_env:Held"
    assert ended(process, workers) == (code, f"shapo: stopped; continue with: {advice}")
    assert list((tmp_path / "run" / "checkpoints").iterdir())


def test_a_second_ctrl_c_does_not_wait(tmp_path, hold):
    folder = tmp_path / "run"
    process = train("Stubborn", folder)
    wait_for(lambda: rows(folder) >= 1, process)
    workers = workers_of(process)
    process.send_signal(signal.SIGINT)
    wait_for(lambda: "closing" in (folder / "workers.log").read_text(), process)
    process.send_signal(signal.SIGINT)
    line = "shapo: stopped at once; runs go on from their last checkpoint"
    assert ended(process, workers) == (130, line)


def test_kill_a_worker(tmp_path, hold):
    folder = tmp_path / "run"
    process = train("Held", folder)
    wait_for(lambda: rows(folder) >= 1, process)
    victim, other = workers_of(process)
    victim.kill()
    code, line = ended(process, [victim, other])
    assert code == 1
    assert "toy_env:Held" in line and "killed by signal 9" in line and str(env_seed(2, 0)) in line
    assert str(folder / "workers.log") in line and f"shapo train --resume {folder}" in line


@pytest.mark.parametrize(
    "fault, complaint",
    [
        ("raise", "Toy with seeds {0} to {1} raised ZeroDivisionError: the floor is gone"),
        ("nan", "Toy with seed {1} returned the reward nan at step 9"),
        ("hang", "with seeds {0} to {1} made no step for 2 s"),
    ],
)
def test_a_broken_environment(tmp_path, fault, complaint):
    """It breaks in the second batch: the first is not lost."""
    folder = tmp_path / "run"
    broken = partial(Toy, fault=fault, fault_step=60)  # 50 steps are the first batch
    with pytest.raises(TrainingError) as error:
        training.train(EXPERIMENT.replace(workers=2), folder, env=broken, patience=2.0)
    text = str(error.value)
    first = env_seed(EXPERIMENT.seed, 0)
    # Both workers break, and either may be the first to say so.
    assert any(complaint.format(seed, seed + 1) in text for seed in (first, first + 2))
    assert "\n" not in text
    assert str(folder / "workers.log") in text and f"shapo train --resume {folder}" in text
    assert [path.name for path in (folder / "checkpoints").iterdir()] == ["000000.safetensors"]
    assert not psutil.Process().children()


@pytest.mark.parametrize("algo", ["trpo-pid", "ppo"])
def test_what_is_not_finite_is_neither_published_nor_written(tmp_path, algo):
    """Rewards of 1e30 in the second batch overflow what is learned from them: the first batch's results stay."""
    folder = tmp_path / "run"
    huge = partial(Toy, fault="huge", fault_step=60)
    with pytest.raises(TrainingError, match=r"no longer finite after iteration 1 \(") as error:
        training.train(EXPERIMENT.replace(algo=algo), folder, env=huge)
    assert "--resume" not in str(error.value)
    assert [path.name for path in (folder / "checkpoints").iterdir()] == ["000000.safetensors"]
    assert Run.open(folder).history.columns["iteration"] == [0]
    assert np.isfinite(Run.open(folder).policy.actor.weights[0]).all()


@pytest.mark.parametrize("algo", ["trpo", "cpo", "pcpo", "ppo"])
def test_a_rule_whose_slope_is_no_number_is_told(tmp_path, algo):
    """No step would be taken, ever: a training that only seems to go on."""
    experiment = EXPERIMENT.replace(algo=algo, gradient="own_rules:Lost()", critic_gradient="plain")
    what = "policy" if algo == "ppo" else r"slope .* \(policy/residual\);"
    with pytest.raises(TrainingError, match=f"the {what}") as error:
        training.train(experiment, tmp_path / "run", env=Toy)
    assert "no longer finite after iteration 0" in str(error.value)


@pytest.mark.slow  # `test_torture` fills it at every system call of a write
def test_a_full_disk(never_stopped, tmp_path):
    """44 kB in a mount namespace of its own: full after a few iterations, gone with the process."""
    unshare = shutil.which("unshare")
    assert unshare, "install util-linux: this test mounts a small file system"
    place = tmp_path / "small"
    place.mkdir()
    script = f'mount -t tmpfs -o size=44k none {place} && "$@"; code=$?; cp -r {place}/run {tmp_path}/saved; exit $code'
    flags = ["--mount"] if os.geteuid() == 0 else ["--mount", "--map-root-user"]
    process = train("Toy", place / "run", wrapper=[unshare, *flags, "sh", "-c", script, "sh"])
    code, line = ended(process)
    assert code == 1
    assert "No space left on device" in line and f"--resume {place / 'run'}" in line
    assert 1 <= rows(tmp_path / "saved") < 8
    assert_resumes(tmp_path / "saved", never_stopped, env="toy_env:Toy")


def test_a_folder_that_cannot_be_written():
    code, line = ended(train("Toy", "/proc/nowhere/run"))
    assert code == 2 and "/proc/nowhere" in line


def test_a_folder_that_holds_a_run(never_stopped):
    before = (never_stopped / "progress.csv").read_bytes()
    code, line = ended(train("Toy", never_stopped))
    assert code == 2 and "already holds a run" in line and "--resume" in line
    assert (never_stopped / "progress.csv").read_bytes() == before
