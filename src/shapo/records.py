"""Where else the numbers of a run go: TensorBoard, Weights & Biases."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from tensorboardX import SummaryWriter

from shapo.experiment import Experiment


class Recorder(Protocol):
    """Takes a row per iteration."""

    def record(self, row: Mapping[str, float]) -> None:
        """Note one iteration's numbers."""
        ...

    def close(self) -> None:
        """Write out what is pending."""
        ...


class TensorBoard:
    """Event files for `tensorboard --logdir`."""

    def __init__(self, folder: Path, first_iteration: int):
        """A resumed run hides what was recorded after its checkpoint."""
        self._writer = SummaryWriter(str(folder), purge_step=first_iteration, flush_secs=30)

    def record(self, row: Mapping[str, float]) -> None:
        """Note one iteration's numbers under its iteration."""
        for name, value in row.items():
            self._writer.add_scalar(name, value, int(row["iteration"]))

    def close(self) -> None:
        """Write out what is pending."""
        self._writer.close()


class WeightsAndBiases:
    """A run at wandb.ai; needs the `wandb` extra."""

    def __init__(self, project: str, folder: Path, experiment: Experiment):
        try:
            import wandb  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise ValueError(
                "--wandb needs the package wandb; install it with: pip install 'shapo[wandb]'"
            ) from None
        self._run = wandb.init(
            project=project,
            name=folder.name,
            id=folder.name,
            resume="allow",
            dir=str(folder),
            config=dataclasses.asdict(experiment),
        )

    def record(self, row: Mapping[str, float]) -> None:
        """Note one iteration's numbers under its iteration."""
        self._run.log(dict(row), step=int(row["iteration"]))

    def close(self) -> None:
        """Finish the upload."""
        self._run.finish()
