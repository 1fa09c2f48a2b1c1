"""A hostile run folder given to every command that reads runs: nothing is executed, nothing outside is touched."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hostile import EXPERIMENT, TRAPS, write_run

from shapo.cli import main as cli
from shapo.experiments.sweep.process import RunProcess
from shapo.rollout import processes
from shapo.rollout.sharing import anonymous_file

SECRET = "the user's secret"
SAME = [
    "--env", EXPERIMENT.env, "--steps", "200", "--num-envs", "2", "--steps-per-env", "50", "--hidden", "8",
]  # fmt: skip
GRID = f"env: {EXPERIMENT.env}\nsteps: 200\nnum_envs: 2\nsteps_per_env: 50\nworkers: 1\nhidden: [[8]]\nseeds: 1\n"
WATCH = []
"""What `_audit` tells, while somebody wants to know."""


def _audit(event, arguments):
    if WATCH and event == "open" and isinstance(arguments[0], str | os.PathLike):
        WATCH[-1].append(os.path.realpath(arguments[0]))


sys.addaudithook(_audit)


@contextlib.contextmanager
def opened():
    """The files that are opened meanwhile, links followed."""
    WATCH.append([])
    try:
        yield WATCH[-1]
    finally:
        WATCH.pop()


def canary(mark: Path) -> str:
    return f"open({str(mark)!r}, 'w').close()\ndef make(*_, **__): pass\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a run in it, in which there are modules of many names; the user stands in the run's folder."""
    folder = write_run(tmp_path / "out" / "plain-seed0")
    shapo = EXPERIMENT.replace(gradient="shapo", critic_gradient="sam")
    write_run(tmp_path / "out" / "shapo-seed0", shapo)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "secret").write_text(SECRET)
    (folder / "nest").mkdir()
    for where in (folder, folder / "nest", folder.parent):
        (where / "canary.py").write_text(canary(tmp_path / "mark"))
    (folder / "matplotlibrc").write_text("backend: module://canary\n")
    monkeypatch.chdir(folder)
    return tmp_path


def reading_commands(place: Path):
    """Every command that reads runs."""
    (place / "grid.yaml").write_text(GRID)
    out, here = place / "out", place / "results"
    here.mkdir()
    yield "evaluate", "."
    yield "play", "."
    yield "train", "--resume", "."
    yield "train", "--restart", "nowhere", "--env", "canary:make"
    yield "runs", out, "--check"
    yield "report", out, "-o", here / "report.html"
    yield "figure", "main", "--runs", out, "--out", here
    yield "compare", *SAME, "--seeds", "1", "--out", out, "--workers", "1"
    yield "sweep", place / "grid.yaml", "--out", out, "--dry-run"
    yield "tune", *SAME, "--points", "1", "--seeds", "1", "--out", out, "--dry-run"


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_is_data(trap, place, capfd):
    secret = place / "home" / "secret"
    TRAPS[trap](place / "out" / "plain-seed0", secret)
    before = os.stat(secret)
    for words in reading_commands(place):
        with opened() as files:
            try:
                cli.main(list(map(str, words)))
                code = 0
            except SystemExit as exit:
                code = exit.code
        said = "".join(capfd.readouterr())
        lines = said.strip().splitlines()
        assert code in (0, 1, 2) and len([line for line in lines if "shapo: " in line]) <= 2, said
        assert "--debug" not in said and "Traceback" not in said, (words, said)
        assert "\x1b]" not in said and SECRET not in said, (words, said)
        assert str(secret) not in files, words
    assert not (place / "mark").exists()
    assert (os.stat(secret).st_mtime_ns, secret.read_text()) == (before.st_mtime_ns, SECRET)
    assert os.listdir(place / "home") == ["secret"]
    for path in (place / "results").iterdir():
        assert SECRET.encode() not in path.read_bytes()


def test_whoever_names_the_code_has_it_imported(place, capfd, monkeypatch):
    TRAPS["code beside it"](place / "out" / "plain-seed0", place)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for words in (
        ["evaluate", "."],
        ["train", "--resume", "."],
        ["evaluate", ".", "--env", "os:abort"],
    ):
        with pytest.raises(SystemExit):
            cli.main(words)
        assert "was trained on canary:make" in capfd.readouterr().err
    assert not (place / "mark").exists()
    with pytest.raises(SystemExit):
        cli.main(["evaluate", ".", "--env", "canary:make"])
    assert (place / "mark").exists()


SHADOWS = ("numpy", "pandas", "random", "json", "jax", "cloudpickle", "matplotlib", "shapo_words")


@pytest.fixture
def shadows(tmp_path, monkeypatch):
    """The user stands in a folder whose modules are called like those that we import."""
    (tmp_path / "here").mkdir()
    for name in SHADOWS:
        (tmp_path / "here" / f"{name}.py").write_text(canary(tmp_path / "mark"))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


@pytest.mark.parametrize("how", ["installed", "python -m"])
def test_the_current_folder_poses_as_nothing(shadows, how):
    program = shadows / "shapo"
    program.write_text("from shapo.cli.main import main\nmain()\n")
    start = [str(program)] if how == "installed" else ["-m", "shapo"]
    write_run(shadows / "here" / "run")
    done = subprocess.run([sys.executable, *start, "report", "."], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not (shadows / "mark").exists()


def test_nor_does_it_say_where_compiled_code_is_loaded_from(shadows):
    """Numba's configuration, which may name a cache of somebody else's machine code."""
    (shadows / "here" / ".numba_config.yaml").write_text("cache_dir: somewhere\n")
    program = "from shapo.cli import main; main._keep_to_ourselves(); import numba; print(numba.config.CACHE_DIR)"
    command = [sys.executable, "-P", "-c", program]
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "\n"


def test_nor_for_the_processes_we_start(shadows):
    memory = anonymous_file()
    worker = processes.start(0, range(1), shadows / "log", memory)
    worker.pipe.close()
    worker.process.wait()
    os.close(memory)
    child = RunProcess(EXPERIMENT.replace(env="nowhere:Maze"), shadows / "run", sys.path)
    while child.receive() is not None:
        pass
    assert "cannot import nowhere" in child.outcome().reason
    child.close()
    assert not (shadows / "mark").exists(), (shadows / "log").read_text()
