"""Run folders as somebody with bad intentions would make them: consistent in themselves, and each with one trap."""

import contextlib
import io
import json
import os
import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np
from test_acting import make_actor

from shapo.cli import main as cli
from shapo.experiment import Experiment
from shapo.rollout.actions import ActionScale
from shapo.runs import files, policies
from shapo.runs.folder import Run
from shapo.runs.policies import TrainedPolicy
from shapo.runs.writing import RunWriter

ESCAPE = "\x1b]0;owned\x07\x1b[31m"
EXPERIMENT = Experiment(steps=200, num_envs=2, steps_per_env=50, workers=1, hidden=(8,), seed=0)
POLICY = TrainedPolicy(
    make_actor((3, 8, 2)), ActionScale(np.zeros(2), np.ones(2)), "SafetyPointGoal1-v0"
)


def write_run(
    folder: Path,
    experiment: Experiment = EXPERIMENT,
    iterations: int = 2,
    policy: TrainedPolicy = POLICY,
) -> Path:
    """A run as `train` would have left it, with all checksums right."""
    run = Run.create(folder, experiment)
    writer = RunWriter(run, None)
    for i in range(iterations):
        row = {"iteration": i, "steps": (i + 1) * 100, "reward/episode": 1.0, "cost/episode": 2.0}
        row |= {"cost/rate": 0.1, "cost/total": 10.0, "cost/p95": 3.0}
        episode = {"iteration": i, "steps": (i + 1) * 100, "return": 1.0, "cost": 2.0}
        writer.write(row, [episode], {"state": np.arange(3)}, {"seconds": "1"}, policy)
    if iterations >= experiment.iterations:
        writer.finish()
    writer.close()
    return folder


def in_config(folder: Path, **changes) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["experiment"] |= changes
    (folder / "config.json").write_text(json.dumps(config))


def trained_with(**choices: str):
    """A trap: a run made of these, with all checksums right."""

    def set_trap(folder: Path, secret: Path) -> None:
        made = write_run(folder.with_name("made"), EXPERIMENT.replace(**choices))
        for path in made.iterdir():
            if path.is_file():
                path.replace(folder / path.name)
        shutil.rmtree(made)

    return set_trap


def link(path: Path, target: Path) -> None:
    if path.is_dir():
        for file in path.iterdir():
            file.unlink()
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
    path.symlink_to(target)


def policy_with(**changes):
    """A trap: a policy file with sound checksums in which some arrays are others, or missing (None)."""

    def set_trap(folder: Path, secret: Path) -> None:
        arrays, facts = files.unpack(folder / policies.FILE)
        arrays = {k: v for k, v in {**arrays, **changes}.items() if v is not None}
        (folder / policies.FILE).write_bytes(files.pack(arrays, facts))
        (folder / "manifest.json").unlink()

    return set_trap


def _fifo(folder: Path, secret: Path) -> None:
    (folder / "progress.csv").unlink()
    os.mkfifo(folder / "progress.csv")


def _temporary_link(folder: Path, secret: Path) -> None:
    (folder / ".policy.safetensors.tmp").symlink_to(secret)
    (folder / "manifest.json").unlink()


def _unknown_to_numpy(kind: str, size: int):
    """A trap: a number for which NumPy has no name."""

    def set_trap(folder: Path, secret: Path) -> None:
        mean = {"dtype": kind, "shape": [1], "data_offsets": [0, size]}
        header = json.dumps({"mean": mean, "__metadata__": {"shapo": "{}"}}).encode()
        content = len(header).to_bytes(8, "little") + header + bytes(size)
        (folder / policies.FILE).write_bytes(content)

    return set_trap


def _escapes(folder: Path, secret: Path) -> None:
    (folder / "failure.txt").write_text(f"{ESCAPE}failed\n")
    (folder / "progress.csv").unlink()


def _deeply(folder: Path, secret: Path) -> None:
    (folder / "config.json").write_text("[" * 100_000 + "]" * 100_000)


TRAPS = {
    "code beside it": trained_with(env="canary:make"),
    "code in a package": trained_with(env="nest.canary:make"),
    "a gadget": trained_with(env="os:abort"),
    "code for Gymnasium": trained_with(env="canary:Canary-v0"),
    "code as an algorithm": trained_with(algo="canary:make"),
    "code as a gradient rule": trained_with(gradient="canary:make"),
    "a link to a secret": lambda folder, secret: link(folder / "failure.txt", secret),
    "a link for the rows": lambda folder, secret: link(folder / "progress.csv", secret),
    "a link for the policy": lambda folder, secret: link(folder / policies.FILE, secret),
    "a link for the config": lambda folder, secret: link(folder / "config.json", secret),
    "a link for the log": lambda folder, secret: link(folder / "workers.log", secret),
    "a link for checkpoints": lambda folder, secret: link(folder / "checkpoints", secret.parent),
    "a link for events": lambda folder, secret: link(folder / "tensorboard", secret.parent),
    "a link for a film": lambda folder, secret: link(folder / "episode.mp4", secret),
    "a link in passing": _temporary_link,
    "a pipe": _fifo,
    "escapes in a failure": _escapes,
    "escapes in a name": lambda folder, secret: in_config(folder, env=f"Toy{ESCAPE}"),
    "nested deeply": _deeply,
    "nested choices": lambda folder, secret: in_config(folder, hidden=[[64]]),
    "an endless number": lambda folder, secret: in_config(folder, steps=10**400),
    "a name without end": lambda folder, secret: in_config(folder, env=f"m:f(x={'-' * 100_000}1)"),
    "bfloat16": _unknown_to_numpy("BF16", 2),
    "float8": _unknown_to_numpy("F8_E5M2", 1),
    "a missing array": policy_with(mean=None),
    "a wrong shape": policy_with(log_std=np.zeros((2, 2), np.float32)),
    "a wrong type": policy_with(mean=np.zeros(3, np.int64)),
    "not finite": policy_with(mean=np.full(3, np.nan, np.float32)),
}


SECRET = "the user's secret"
SAME = [
    "--env", EXPERIMENT.env, "--steps", "200", "--num-envs", "2", "--steps-per-env", "50", "--hidden", "8",
]  # fmt: skip
GRID = f"env: {EXPERIMENT.env}\nsteps: 200\nnum_envs: 2\nsteps_per_env: 50\nworkers: 1\nhidden: [[8]]\nseeds: 1\n"


def canary(mark: Path) -> str:
    """A module that leaves a mark when it is executed."""
    return f"open({str(mark)!r}, 'w').close()\ndef make(*_, **__): pass\n"


class Stage(NamedTuple):
    """A run with a trap, beside it modules that must not be executed, and elsewhere a secret."""

    place: Path
    run: Path
    secret: Path

    @classmethod
    def set_up(cls, place: Path, trap: str) -> "Stage":
        """Set a trap in a new run below `place`."""
        run, secret = place / "out" / "plain-seed0", place / "home" / "secret"
        write_run(run)
        write_run(
            place / "out" / "shapo-seed0",
            EXPERIMENT.replace(gradient="shapo", critic_gradient="sam"),
        )
        secret.parent.mkdir()
        secret.write_text(SECRET)
        (run / "nest").mkdir()
        for where in (run, run / "nest", run.parent):
            (where / "canary.py").write_text(canary(place / "mark"))
        (run / "matplotlibrc").write_text("backend: module://canary\n")
        (place / "results").mkdir()
        (place / "grid.yaml").write_text(GRID)
        TRAPS[trap](run, secret)
        return cls(place, run, secret)

    def commands(self) -> list[list[str]]:
        """Every command that reads runs, to be given where the run is."""
        out, results = self.place / "out", self.place / "results"
        given = [
            ("evaluate", "."),
            ("play", "."),
            ("train", "--resume", "."),
            ("train", "--restart", "nowhere", "--env", "canary:make"),
            ("runs", out, "--check"),
            ("archive", out, "-o", results / "all.runs.gz"),
            ("export", ".", "--out", results / "policy.onnx"),
            ("study", "--runs", out),
            ("report", out, "-o", results / "report.html"),
            ("figure", "main", "--runs", out, "--out", results),
            ("compare", *SAME, "--seeds", "1", "--out", out, "--workers", "1"),
            ("sweep", self.place / "grid.yaml", "--out", out, "--dry-run"),
            ("tune", *SAME, "--points", "1", "--seeds", "1", "--out", out, "--dry-run"),
        ]
        return [list(map(str, words)) for words in given]

    def run_quietly(self, words: list[str]) -> None:
        """Give a command; what it says must be fit for a terminal, and one line where something is wrong."""
        said = io.StringIO()
        os.chdir(self.run)
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                cli.main(words)
            except SystemExit as exit:
                assert exit.code in (1, 2), exit.code
        text = said.getvalue()
        assert "--debug" not in text and "Traceback" not in text, text
        assert "\x1b]" not in text and SECRET not in text, repr(text)
        assert sum(line.startswith("shapo: ") for line in text.splitlines()) <= 2, text

    def assert_untouched(self) -> None:
        """Nothing was executed, and the secret is as it was and nowhere else."""
        assert not (self.place / "mark").exists(), "it was executed"
        assert self.secret.read_text() == SECRET and os.listdir(self.secret.parent) == ["secret"]
        for path in (self.place / "results").iterdir():
            assert SECRET.encode() not in path.read_bytes(), f"the secret is in {path}"
