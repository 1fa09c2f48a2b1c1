"""A run on disk: what was asked, what happened, and how to go on.

config.json           every choice, and the versions it was made with
progress.csv          a row per iteration
episodes.csv          a row per finished episode
checkpoints/          the last two states, each enough to continue bit for bit
policy.safetensors    the policy after the last iteration, for `shapo.load`
tensorboard/          the same numbers as progress.csv
workers.log           what the environments printed
"""

import contextlib
import dataclasses
import difflib
import fcntl
import importlib.metadata
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from numpy.typing import NDArray

from shapo.experiment import Experiment
from shapo.runs import policies
from shapo.runs.checkpoints import Checkpoint, newest_checkpoint, save_checkpoint
from shapo.runs.config import BadConfig, read_config
from shapo.runs.files import write_atomically
from shapo.runs.history import History, read_history
from shapo.runs.tables import Table

PACKAGES = ("jax", "jaxlib", "numpy", "mujoco", "numba", "gymnasium", "optax")
TABLES = ("progress.csv", "episodes.csv")


LOG = "workers.log"
REMAINS = (LOG, "failure.txt")
"""What may be left of a start that failed."""


class RunInUse(ValueError):
    """Another process is training in this folder."""


@dataclass(frozen=True)
class Run:
    """A folder that holds a run."""

    folder: Path
    experiment: Experiment
    custom: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """What was passed as Python objects rather than by name, described."""
    version: str = dataclasses.field(default_factory=lambda: importlib.metadata.version("shapo"))
    """The shapo that wrote it."""
    moment: History | None = dataclasses.field(default=None, compare=False, repr=False)
    """What it had recorded at one moment; None for a run that may be going on."""

    @classmethod
    def create(cls, folder: Path, experiment: Experiment, custom: Mapping[str, str]) -> "Run":
        """Begin a run in a folder that is new, empty, or left behind by a start that failed."""
        if (folder / "config.json").exists():
            raise ValueError(
                f"{folder} already holds a run; continue it with --resume {folder} or choose another --out"
            )
        if not is_free(folder):
            raise ValueError(f"{folder} exists and is not an empty folder; choose another --out")
        for name in REMAINS:
            (folder / name).unlink(missing_ok=True)
        (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
        config = {
            "version": importlib.metadata.version("shapo"),
            "experiment": dataclasses.asdict(experiment),
            "custom": dict(custom),
            "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
        }
        write_atomically(folder / "config.json", (json.dumps(config, indent=2) + "\n").encode())
        return cls(folder, experiment, custom)

    @classmethod
    def open(cls, folder: str | os.PathLike) -> "Run":
        """A run that exists."""
        folder = Path(folder)
        if not (folder / "config.json").exists():
            near = difflib.get_close_matches(folder.name, _runs_beside(folder), n=1)
            hint = f"; did you mean {folder.parent / near[0]}?" if near else ""
            raise ValueError(f"{folder} holds no run (no config.json){hint}")
        try:
            return cls(folder, *read_config(folder / "config.json"))
        except BadConfig as error:
            raise BadConfig(f"{folder}: {error}") from None

    @property
    def log(self) -> Path:
        """Where the workers' output goes."""
        return self.folder / LOG

    @property
    def policy(self) -> policies.Policy:
        """The policy after the last iteration."""
        return policies.load(self.folder)

    @property
    def environment(self) -> str:
        """What it was trained on: an environment's name, or the description of what was passed instead."""
        return self.custom.get("env", self.experiment.env)

    @property
    def failure(self) -> str:
        """Why it stopped, as its sweep noted; empty if it did not fail."""
        path = self.folder / "failure.txt"
        return path.read_text("utf-8", "replace").strip() if path.exists() else ""

    @property
    def history(self) -> History:
        """What it has recorded so far, read anew each time unless this is the run of one moment."""
        return read_history(self.folder / "progress.csv") if self.moment is None else self.moment

    @property
    def progress(self) -> dict[str, list[float]]:
        """The columns of `progress.csv`."""
        return {name: values.tolist() for name, values in self.history.columns.items()}

    @property
    def finished(self) -> bool:
        """Whether all iterations are done."""
        return self.history.last("iteration") + 1 >= self.experiment.iterations

    def now(self) -> "Run":
        """The run of this moment: whatever is written meanwhile, it stays as it is."""
        return dataclasses.replace(self, moment=self.history)

    def until(self, steps: int) -> "Run":
        """The run as it stood after so many steps."""
        return dataclasses.replace(self, moment=self.history.until(steps))

    def require_same(self, wanted: Experiment, custom: Mapping[str, str]) -> None:
        """Raise unless the run is of this experiment, showing what differs."""
        ours, theirs = dataclasses.asdict(self.experiment), dataclasses.asdict(wanted)
        changed = [
            f"{k} is {ours[k]} in the run, {v} was asked for"
            for k, v in theirs.items()
            if ours[k] != v
        ]
        if dict(custom) != dict(self.custom):
            changed.append(
                f"the run was made with {dict(self.custom)}, not {dict(custom)}: resume it in Python with the same"
            )
        if changed:
            raise ValueError(
                f"cannot resume {self.folder} with another config: {'; '.join(changed)}"
            )

    def discard(self, keep_log: bool = False) -> bool:
        """Take a run that never began off the disk again; one with any progress stays. Returns whether it is gone.

        What its environments printed may stay for whoever wants to know why; it is in nobody's way.
        """
        if self.progress:
            return False
        for name in ("checkpoints", "tensorboard", "wandb"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        for name in ("config.json", *TABLES, *(() if keep_log else REMAINS)):
            (self.folder / name).unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()
        return True

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run for this process alone; the lock goes with the process, however it ends."""
        with open(self.folder / "config.json") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RunInUse(f"{self.folder} is being trained by another process") from None
            yield

    def last_checkpoint(self) -> tuple[Checkpoint | None, list[str]]:
        """Where to continue (None: at the beginning), and a line about each damaged checkpoint."""
        return newest_checkpoint(self.folder / "checkpoints")


class RunWriter:
    """Adds iterations to a run."""

    def __init__(self, run: Run, checkpoint: Checkpoint | None):
        """Continue from `checkpoint`: what was written after it is cut off."""
        self._folder = run.folder
        facts = checkpoint.facts if checkpoint else {}
        self._tables = {name: Table(run.folder / name, int(facts.get(name, 0))) for name in TABLES}

    def write(
        self,
        row: Mapping[str, float],
        episodes: Sequence[Mapping[str, float]],
        arrays: Mapping[str, NDArray],
        facts: Mapping[str, str],
        policy: policies.Policy,
    ) -> None:
        """One iteration: its row, its episodes, and the state after it. On disk when this returns."""
        progress, finished = (self._tables[name] for name in TABLES)
        progress.append([row])
        finished.append(episodes)
        sizes = {name: str(table.sync()) for name, table in self._tables.items()}
        policy.save(self._folder / policies.FILE)
        checkpoint = Checkpoint(int(row["iteration"]), dict(arrays), {**facts, **sizes})
        save_checkpoint(self._folder / "checkpoints", checkpoint)

    def close(self) -> None:
        """Free the files."""
        for table in self._tables.values():
            table.close()


def is_free(folder: Path) -> bool:
    """Whether a run may begin here: there is nothing, or nothing but what is left of a start that failed."""
    if not folder.exists():
        return True
    return folder.is_dir() and all(path.name in REMAINS for path in folder.iterdir())


def _runs_beside(folder: Path) -> list[str]:
    if not folder.parent.is_dir():
        return []
    return [path.parent.name for path in folder.parent.glob("*/config.json")]
