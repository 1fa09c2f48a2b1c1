"""Writing a run: each iteration is on disk, whole, before the next one is."""

import dataclasses
from collections.abc import Mapping, Sequence

from numpy.typing import NDArray

from shapo.runs import policies
from shapo.runs.absent import CONFIG
from shapo.runs.checkpoints import Checkpoint, keep_last, save_checkpoint
from shapo.runs.files import read_json, remove_temporaries
from shapo.runs.folder import Run
from shapo.runs.integrity import MANIFEST, TABLES, seal
from shapo.runs.origin import decisive, remembered
from shapo.runs.tables import Extent, Table


class RunWriter:
    """Adds iterations to a run."""

    def __init__(self, run: Run, checkpoint: Checkpoint | None):
        """Continue from `checkpoint`: what was written after it is cut off, what a crash left behind is removed."""
        self._folder = run.folder
        self._checkpoints = run.folder / "checkpoints"
        self._origin = remembered(read_json(run.folder / CONFIG))
        (run.folder / MANIFEST).unlink(missing_ok=True)
        for folder in (run.folder, self._checkpoints):
            remove_temporaries(folder)
        keep_last(self._checkpoints, checkpoint.iteration if checkpoint else -1)
        facts = checkpoint.facts if checkpoint else {}
        self._tables = {
            name: Table(run.folder / name, Extent.parse(facts.get(name, "0"))) for name in TABLES
        }

    def write(
        self,
        row: Mapping[str, float],
        episodes: Sequence[Mapping[str, float]],
        arrays: Mapping[str, NDArray],
        facts: Mapping[str, str],
        policy: policies.TrainedPolicy,
    ) -> None:
        """One iteration: its row, its episodes, and the state after it. On disk when this returns."""
        progress, finished = (self._tables[name] for name in TABLES)
        progress.append([row])
        finished.append(episodes)
        extents = {name: str(table.sync()) for name, table in self._tables.items()}
        own = dataclasses.replace(policy, experiment=decisive(self._origin))
        own.save(self._folder / policies.FILE)
        known = {**facts, **extents, "experiment": self._origin}
        save_checkpoint(self._checkpoints, Checkpoint(int(row["iteration"]), dict(arrays), known))

    def finish(self) -> None:
        """Say that this was the last iteration."""
        seal(self._folder)

    def close(self) -> None:
        """Free the files."""
        for table in self._tables.values():
            table.close()
