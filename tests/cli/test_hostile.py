"""A hostile run folder given to every command that reads runs: nothing is executed, nothing outside is touched."""

import contextlib
import os
import subprocess
import sys

import pytest
from hostile import EXPERIMENT, TRAPS, Stage, canary, write_run

from shapo.cli import main as cli
from shapo.experiments import style
from shapo.experiments.sweep.process import RunProcess
from shapo.rollout import processes
from shapo.rollout.sharing import anonymous_file

TRAINED = list(TRAPS)[::12]
"""To these `compare` is given, too, which trains what it does not find; among the slow tests to all."""
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


@pytest.mark.xdist_group("hostile")  # one process compiles what the commands train
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_is_data(trap, every, tmp_path, monkeypatch):
    """To every command that reads runs."""
    stage = Stage.set_up(tmp_path, trap)
    monkeypatch.chdir(stage.run)
    monkeypatch.setattr(style, "FORMATS", ("svg",))  # one shows what is drawn as well as three
    before = stage.secret.stat().st_mtime_ns
    for words in stage.commands():
        if words[0] == "compare" and not (every or trap in TRAINED):
            continue
        with opened() as files:
            stage.run_quietly(words)
        assert str(stage.secret) not in files, words
    stage.assert_untouched()
    assert stage.secret.stat().st_mtime_ns == before


def test_whoever_names_the_code_has_it_imported(tmp_path, capsys, monkeypatch):
    stage = Stage.set_up(tmp_path, "code beside it")
    monkeypatch.chdir(stage.run)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for words in (["evaluate", "."], ["play", "."], ["train", "--resume", "."]):
        with pytest.raises(SystemExit):
            cli.main(words)
        assert "canary:make" in capsys.readouterr().err
    stage.assert_untouched()
    with pytest.raises(SystemExit):
        cli.main(["evaluate", ".", "--env", "canary:make"])
    assert (tmp_path / "mark").exists()


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
