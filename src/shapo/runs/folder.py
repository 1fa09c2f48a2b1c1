"""A run on disk: what was asked, what happened, and how to go on.

config.json           every choice, and the versions it was made with
progress.csv          a row per iteration
episodes.csv          a row per finished episode
checkpoints/          the last two states, each enough to continue bit for bit
policy.safetensors    the policy after the last iteration, for `shapo.load`
manifest.json         once it is finished: a checksum of each file above but the checkpoints
tensorboard/          the same numbers as progress.csv
workers.log           what the environments printed
aside/                what was there before it was begun anew
"""

import contextlib
import dataclasses
import difflib
import fcntl
import importlib.metadata
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from shapo.experiment import Experiment
from shapo.runs import policies
from shapo.runs.files import read_json, temporary_name, write_atomically
from shapo.runs.integrity import (
    CONFIG,
    MANIFEST,
    TABLES,
    broken_seals,
    check_inside,
    is_sealed,
)
from shapo.runs.origin import choices, differences
from shapo.runs.tables import read_columns
from shapo.words import BadInput

PACKAGES = ("jax", "jaxlib", "numpy", "mujoco", "numba", "gymnasium", "optax")
ASIDE = "aside"
MADE_BY_A_RUN = (
    "checkpoints", *TABLES, policies.FILE, MANIFEST, "workers.log", "failure.txt", "tensorboard", "wandb", CONFIG,
)  # fmt: skip
"""In an order in which they can go: rows without a checkpoint are never overwritten, so they are safe at any moment."""


class RunInUse(BadInput):
    """Another process is training in this folder."""


@dataclass(frozen=True)
class Run:
    """A folder that holds a run."""

    folder: Path
    experiment: Experiment
    custom: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """What was passed as Python objects rather than by name, described."""

    @classmethod
    def create(cls, folder: Path, experiment: Experiment, custom: Mapping[str, str]) -> "Run":
        """Begin a run in a new or empty folder.

        The run exists from the moment its config gets its name: a crash before that leaves a folder as good as empty.
        """
        with contextlib.suppress(FileExistsError):
            folder.mkdir(parents=True)
        with held(folder):
            if (folder / CONFIG).exists():
                raise BadInput(
                    f"{folder} already holds a run; continue it with --resume {folder} or choose another --out"
                )
            begun = temporary_name(folder / CONFIG)
            if not folder.is_dir() or set(folder.iterdir()) - {begun}:
                raise BadInput(f"{folder} exists and is not an empty folder; choose another --out")
            _write_config(folder, experiment, custom)
        return cls(folder, experiment, custom)

    @classmethod
    def open(cls, folder: str | os.PathLike) -> "Run":
        """A run that exists."""
        folder = Path(folder)
        path = folder / CONFIG
        if not path.exists():
            near = difflib.get_close_matches(folder.name, _runs_beside(folder), n=1)
            hint = f"; did you mean {folder.parent / near[0]}?" if near else ""
            raise BadInput(f"{folder} holds no run (no config.json){hint}")
        check_inside(folder)
        try:
            config = read_json(path)
            custom = {str(name): str(text) for name, text in config.get("custom", {}).items()}
            return cls(folder, Experiment(**choices(config)), custom)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(
                f"{path} is not a run's config of this version of shapo ({error})"
            ) from None

    @property
    def id(self) -> str:
        """What no other run is called, even if its folder is; it stays when the folder is moved."""
        return str(read_json(self.folder / CONFIG).get("id", self.folder.name))

    @property
    def log(self) -> Path:
        """Where the workers' output goes."""
        return self.folder / "workers.log"

    @property
    def policy(self) -> policies.Policy:
        """The policy after the last iteration; BadInput if it is not of this run."""
        policy = policies.load(self.folder)
        seals = broken_seals(self.folder) if is_sealed(self.folder) else {}
        if policies.FILE in seals:
            raise BadInput(seals[policies.FILE])
        if changed := differences(read_json(self.folder / CONFIG), policy.experiment):
            said = "; ".join(changed.values())
            raise BadInput(f"{self.folder / CONFIG} is not what its policy was trained with: {said}")
        return policy

    @property
    def progress(self) -> dict[str, list[float]]:
        """The columns of `progress.csv`."""
        path = self.folder / "progress.csv"
        return read_columns(path) if path.exists() else {}

    @property
    def finished(self) -> bool:
        """Whether all iterations are done."""
        steps = self.progress.get("steps")
        return bool(steps) and steps[-1] >= self.experiment.steps

    def require_same(self, wanted: Experiment, custom: Mapping[str, str]) -> None:
        """Raise unless the run is of this experiment, showing what differs; the number of workers may."""
        ours, theirs = dataclasses.asdict(self.experiment), dataclasses.asdict(wanted)
        changed = [
            f"{k} is {ours[k]} in the run, {v} was asked for"
            for k, v in theirs.items()
            if ours[k] != v and k != "workers"
        ]
        if dict(custom) != dict(self.custom):
            changed.append(
                f"the run was made with {dict(self.custom)}, not {dict(custom)}: resume it in Python with the same"
            )
        if changed:
            raise BadInput(f"cannot resume {self.folder} with another config: {'; '.join(changed)}")

    def discard(self) -> None:
        """Take a run that never began off the disk again; one with any progress stays."""
        if self.progress:
            return
        for name in MADE_BY_A_RUN:
            _remove(self.folder / name)
        with contextlib.suppress(OSError):  # the environments may have left something of their own
            self.folder.rmdir()

    def set_aside(self) -> Path:
        """Put all that the run has written into a folder within it, so that it can begin anew; returns that folder."""
        with self.locked():
            (self.folder / ASIDE).mkdir(exist_ok=True)
            taken = [int(each) for each in os.listdir(self.folder / ASIDE) if each.isdecimal()]
            place = self.folder / ASIDE / str(max(taken, default=0) + 1)
            place.mkdir()
            shutil.copy2(self.folder / CONFIG, place / CONFIG)
            for name in MADE_BY_A_RUN:
                if name != CONFIG and (self.folder / name).exists():
                    os.rename(self.folder / name, place / name)
            _write_config(self.folder, self.experiment, self.custom)
        return place

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run for this process alone; the lock goes with the process, however it ends."""
        with held(self.folder):
            yield


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder for this process alone; raises `RunInUse` if another has it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Who had it before us may have taken it off the disk.
            still_there = os.path.samestat(os.fstat(descriptor), os.stat(folder))
        except (BlockingIOError, FileNotFoundError):
            still_there = False
        if not still_there:
            raise RunInUse(f"{folder} is being trained by another process")
        yield
    finally:
        os.close(descriptor)


def _write_config(folder: Path, experiment: Experiment, custom: Mapping[str, str]) -> None:
    config = {
        "version": importlib.metadata.version("shapo"),
        "id": secrets.token_hex(8),
        "experiment": dataclasses.asdict(experiment),
        "custom": dict(custom),
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
    }
    write_atomically(folder / CONFIG, (json.dumps(config, indent=2) + "\n").encode())


def _remove(path: Path) -> None:
    """A file or a folder with all that is in it; a link is not followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _runs_beside(folder: Path) -> list[str]:
    if not folder.parent.is_dir():
        return []
    return [path.parent.name for path in folder.parent.glob("*/config.json")]
