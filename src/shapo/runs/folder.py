"""A run on disk: what was asked, what happened, and how to go on.

config.json           every choice, and the versions it was made with
progress.csv          a row per iteration
episodes.csv          a row per finished episode
checkpoints/          the last two states, each enough to continue bit for bit
policy.safetensors    the policy after the last iteration, for `shapo.load`
manifest.json         once it is finished: a checksum of each file above but the checkpoints
tensorboard/          the same numbers as progress.csv
workers.log           what the environments printed
failure.txt           why it stopped, where a sweep has given it up
aside/                what was there before it was begun anew
"""

import contextlib
import dataclasses
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shapo.experiment import Experiment
from shapo.runs import policies
from shapo.runs.absent import CONFIG, is_run, no_run
from shapo.runs.config import BadConfig, read_config
from shapo.runs.files import read_json, temporary_name, write_json
from shapo.runs.history import History, read_history
from shapo.runs.holding import held
from shapo.runs.integrity import MANIFEST, TABLES, broken_seals, check_inside, is_sealed
from shapo.runs.origin import differences
from shapo.runs.provenance import Provenance, here
from shapo.words import BadInput, printable

ASIDE = "aside"
LOG, FAILURE = "workers.log", "failure.txt"
LONGEST = 2000
"""Letters of a failure that are read; it is meant to be a line."""
REMAINS = (LOG, FAILURE)
"""What may be left of a start that failed."""
MADE_BY_A_RUN = (
    "checkpoints", *TABLES, policies.FILE, MANIFEST, *REMAINS, "tensorboard", "wandb", CONFIG,
)  # fmt: skip
"""In an order in which they can go: rows without a checkpoint are never overwritten, so they are safe at any moment."""


@dataclass(frozen=True)
class Run:
    """A folder that holds a run."""

    folder: Path
    experiment: Experiment
    made: Provenance = dataclasses.field(default_factory=here, compare=False, repr=False)
    """Which shapo began it, with what, and where."""
    extended: bool = False
    """Whether it was begun for fewer steps than it was then asked for."""
    moment: History | None = dataclasses.field(default=None, compare=False, repr=False)
    """What it had recorded at one moment; None for a run that may be going on."""

    def __repr__(self) -> str:
        what = self.experiment
        return f"Run({self.folder}: {what.env}, {what.algo}, {what.gradient}, seed {what.seed})"

    @classmethod
    def create(cls, folder: Path, experiment: Experiment) -> "Run":
        """Begin a run in a folder that is new, empty, or left behind by a start that failed.

        The run exists from the moment its config gets its name: a crash before that leaves a folder as good as empty.
        """
        with contextlib.suppress(FileExistsError):
            folder.mkdir(parents=True)
        with held(folder):
            if is_run(folder):
                raise BadInput(
                    f"{folder} already holds a run; continue it (resume=True, or shapo train --resume {folder}) "
                    "or choose another folder"
                )
            if not is_free(folder):
                raise BadInput(f"{folder} exists and is not an empty folder; choose another")
            for name in REMAINS:
                (folder / name).unlink(missing_ok=True)
            _write_config(folder, experiment)
        return cls(folder, experiment)

    @classmethod
    def open(cls, folder: str | os.PathLike) -> "Run":
        """A run that exists."""
        folder = Path(folder)
        if not is_run(folder):
            raise BadInput(no_run(folder))
        check_inside(folder)
        try:
            return cls(folder, *read_config(folder / CONFIG))
        except BadConfig as error:
            raise BadConfig(f"{folder}: {error}") from None

    @property
    def version(self) -> str:
        """The shapo that began it."""
        return self.made.version

    @property
    def id(self) -> str:
        """What no other run is called, even if its folder is; it stays when the folder is moved."""
        return str(read_json(self.folder / CONFIG).get("id", self.folder.name))

    @property
    def log(self) -> Path:
        """Where the workers' output goes."""
        return self.folder / LOG

    @property
    def policy(self) -> policies.TrainedPolicy:
        """The policy after the last iteration; BadInput if it is not of this run."""
        policy = policies.load(self.folder)
        seals = broken_seals(self.folder) if is_sealed(self.folder) else {}
        if policies.FILE in seals:
            raise BadInput(seals[policies.FILE])
        if changed := differences(read_json(self.folder / CONFIG), policy.experiment):
            said = "; ".join(changed.values())
            raise BadInput(
                f"{self.folder / CONFIG} is not what its policy was trained with: {said}"
            )
        return policy

    @property
    def failure(self) -> str:
        """Why it stopped, as its sweep noted; empty if it did not fail."""
        path = self.folder / FAILURE
        if not path.exists():
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return printable(" ".join(file.read(LONGEST).split()))

    def forget_failure(self) -> None:
        """It goes on: why it stopped is of the past."""
        (self.folder / FAILURE).unlink(missing_ok=True)

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

    def require_same(self, wanted: Experiment) -> None:
        """Raise unless the run is of this experiment, showing what differs; workers may, and it may be shorter."""
        ours, theirs = dataclasses.asdict(self.experiment), dataclasses.asdict(wanted)
        changed = [
            f"{k} is {ours[k]} in the run, {v} was asked for"
            for k, v in theirs.items()
            if ours[k] != v and k != "workers" and not (k == "steps" and v > ours[k])
        ]
        if changed:
            raise BadInput(
                f"cannot resume {self.folder} with another config: {'; '.join(changed)}; begin another run for that"
            )

    def discard(self, keep_log: bool = False) -> bool:
        """Take a run that never began off the disk again; one with any progress stays. Returns whether it is gone.

        What its environments printed may stay for whoever wants to know why; it is in nobody's way.
        """
        if self.history.columns:
            return False
        for name in MADE_BY_A_RUN:
            if not (keep_log and name in REMAINS):
                _remove(self.folder / name)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()
        return True

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
            _write_config(self.folder, self.experiment)
        return place

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run for this process alone; the lock goes with the process, however it ends."""
        with held(self.folder):
            yield


def is_free(folder: Path) -> bool:
    """Whether a run may begin here: there is nothing, or nothing but what is left of a start that failed."""
    if not folder.exists():
        return True
    left = (*REMAINS, temporary_name(folder / CONFIG).name)
    return folder.is_dir() and all(path.name in left for path in folder.iterdir())


def _write_config(folder: Path, experiment: Experiment) -> None:
    made = here()
    config = {
        "version": made.version,
        "commit": made.commit,
        "id": secrets.token_hex(8),
        "experiment": dataclasses.asdict(experiment),
        "packages": made.packages,
        "processor": made.processor,
        "arithmetic": made.arithmetic,
    }
    write_json(folder / CONFIG, config)


def _remove(path: Path) -> None:
    """A file or a folder with all that is in it; a link is not followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
