"""Run folders as somebody with bad intentions would make them: consistent in themselves, and each with one trap."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
from test_acting import make_actor

from shapo import presets
from shapo.experiment import Experiment
from shapo.rollout.acting import ActionScale
from shapo.runs import files, policies
from shapo.runs.folder import Run
from shapo.runs.policies import Policy
from shapo.runs.writing import RunWriter

ESCAPE = "\x1b]0;owned\x07\x1b[31m"
EXPERIMENT = presets.experiment(
    steps=200, num_envs=2, steps_per_env=50, workers=1, hidden=(8,), seed=0
)
POLICY = Policy(make_actor((3, 8, 2)), ActionScale(np.zeros(2), np.ones(2)), "SafetyPointGoal1-v0")


def write_run(folder: Path, experiment: Experiment = EXPERIMENT, iterations: int = 2) -> Path:
    """A run as `train` would have left it, with all checksums right."""
    run = Run.create(folder, experiment, {})
    writer = RunWriter(run, None)
    for i in range(iterations):
        row = {"iteration": i, "steps": (i + 1) * 100, "reward/episode": 1.0, "cost/episode": 2.0}
        row |= {"cost/rate": 0.1, "cost/total": 10.0, "cost/p95": 3.0}
        episode = {"iteration": i, "steps": (i + 1) * 100, "return": 1.0, "cost": 2.0}
        writer.write(row, [episode], {"state": np.arange(3)}, {"seconds": "1"}, POLICY)
    if iterations >= experiment.iterations:
        writer.finish()
    writer.close()
    return folder


def in_config(folder: Path, **changes) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["experiment"] |= changes
    (folder / "config.json").write_text(json.dumps(config))


def trained_on(env: str):
    """A trap: a run on this environment, with all checksums right."""

    def set_trap(folder: Path, secret: Path) -> None:
        made = write_run(folder.with_name("made"), EXPERIMENT.replace(env=env))
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


def _bfloat16(folder: Path, secret: Path) -> None:
    """What NumPy has no name for."""
    header = (
        b'{"mean":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]},"__metadata__":{"shapo":"{}"}}'
    )
    content = len(header).to_bytes(8, "little") + header + b"\0\0"
    (folder / policies.FILE).write_bytes(content)


def _escapes(folder: Path, secret: Path) -> None:
    (folder / "failure.txt").write_text(f"{ESCAPE}failed\n")
    (folder / "progress.csv").unlink()


def _deeply(folder: Path, secret: Path) -> None:
    (folder / "config.json").write_text("[" * 100_000 + "]" * 100_000)


TRAPS = {
    "code beside it": trained_on("canary:make"),
    "code in a package": trained_on("nest.canary:make"),
    "a gadget": trained_on("os:abort"),
    "code for Gymnasium": trained_on("canary:Canary-v0"),
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
    "bfloat16": _bfloat16,
    "a missing array": policy_with(mean=None),
    "a wrong shape": policy_with(log_std=np.zeros((2, 2), np.float32)),
    "a wrong type": policy_with(mean=np.zeros(3, np.int64)),
    "not finite": policy_with(mean=np.full(3, np.nan, np.float32)),
}
