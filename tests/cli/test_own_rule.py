"""A gradient rule of twenty lines in a user's own file is trained, stopped, resumed and evaluated like one of ours."""

import contextlib
import json
import shlex
import sys
from pathlib import Path

import own_rules
import pytest
from test_cli import TINY, shapo
from test_resume import same_files

from shapo.runs import screen

MINE = "my_rules:LookAhead(radius=0.001)"
WORDS = ["train", *TINY, "--steps", "300", "--gradient", "my_rules:LookAhead( radius=1e-3 )"]


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Where the user works: a folder with a file of theirs."""
    (tmp_path / "my_rules.py").write_text(Path(own_rules.__file__).read_text())
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("my_rules", None)
    sys.path[:] = [place for place in sys.path if place != str(tmp_path)]


@contextlib.contextmanager
def ctrl_c(experiment):
    """A screen before which somebody loses patience with the first iteration."""

    def watch(row):
        raise KeyboardInterrupt

    yield watch


def test_train_stop_resume_evaluate(desk, capsys, monkeypatch):
    assert shapo(capsys, *WORDS, "--out", "whole")[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr(screen, "screen", ctrl_c)
        code, _, error = shapo(capsys, *WORDS, "--out", "run")
    assert code == 130
    recorded = json.loads((desk / "run" / "config.json").read_text())["experiment"]
    assert (recorded["gradient"], recorded["env"]) == (MINE, "toy_env:Toy")

    code, _, refusal = shapo(capsys, "train", "--resume", "run", "--env", "toy_env:Toy")
    trust = f"this run uses {MINE}; add --gradient '{MINE}' to say that you trust it"
    assert code == 2 and refusal == f"shapo: {trust}\n"
    other = ["train", "--resume", "run", "--env", "toy_env:Toy", "--gradient", "my_rules:LookAhead"]
    assert "gradient is my_rules:LookAhead(radius=0.001) in the run" in shapo(capsys, *other)[2]

    advice = shlex.split(error.partition("continue with: ")[2])
    assert advice[0] == "shapo" and shapo(capsys, *advice[1:])[0] == 0
    same_files(desk / "run", desk / "whole")
    header = (desk / "run" / "progress.csv").read_text().splitlines()[0]
    assert "gradient/cosine" in header

    words = ["evaluate", "run", "--env", "toy_env:Toy", "--episodes", "2", "--json"]
    found = json.loads(shapo(capsys, *words)[1])
    assert found["mean action"]["episodes"] == 2


@pytest.mark.slow
def test_sweep_compare_report(desk, capsys):
    tiny = dict(zip((word[2:].replace("-", "_") for word in TINY[::2]), TINY[1::2], strict=True))
    grid = tiny | {"steps": 300, "seeds": 2, "gradient": ["plain", MINE]}
    (desk / "grid.yaml").write_text(json.dumps(grid))
    assert shapo(capsys, "sweep", "grid.yaml", "--out", "runs")[0] == 0
    alone = [*WORDS, "--seed", "1", "--out", "alone"]
    assert shapo(capsys, *alone)[0] == 0
    same_files(desk / "runs/toy_env-Toy_trpo_my_rules-LookAhead-radius=0.001-_s1", desk / "alone")
    assert "4 finished" in shapo(capsys, "sweep", "grid.yaml", "--out", "runs", "--dry-run")[1]

    words = ["compare", *TINY, "--steps", "300", "--gradient", MINE, "--seeds", "1", "--json"]
    code, out, _ = shapo(capsys, *words)
    assert code == 0 and len(json.loads(out.splitlines()[-2])["arms"][1]["values"]["return"]) == 1
    assert shapo(capsys, "report", "runs")[0] == 0
    assert f"trpo · {MINE} − trpo · plain" in (desk / "report.html").read_text()
