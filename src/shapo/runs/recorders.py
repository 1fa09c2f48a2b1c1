"""Where else the numbers of a run go: TensorBoard, Weights & Biases."""

import contextlib
import dataclasses
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from tensorboardX.event_file_writer import EventsWriter
from tensorboardX.proto.event_pb2 import Event, SessionLog  # pyright: ignore[reportAttributeAccessIssue]
from tensorboardX.proto.summary_pb2 import Summary  # pyright: ignore[reportAttributeAccessIssue]

from shapo.runs.folder import Run
from shapo.words import BadInput


class Recorder(Protocol):
    """Takes a row per iteration."""

    def record(self, row: Mapping[str, float]) -> None:
        """Note one iteration's numbers."""
        ...

    def close(self) -> None:
        """Write out what is pending."""
        ...


class TensorBoard:
    """Event files for `tensorboard --logdir`.

    Written without tensorboardX's background thread, which would swallow a full disk's error.
    """

    def __init__(self, folder: Path, first_iteration: int):
        """A resumed run hides what was recorded after its checkpoint."""
        folder.mkdir(exist_ok=True)
        # Its name has only the second in it, and a run may be continued within one.
        self._writer = EventsWriter(str(folder / f"events-{first_iteration}"))
        start = SessionLog(status=SessionLog.START)
        self._writer.write_event(Event(step=first_iteration, session_log=start))

    def record(self, row: Mapping[str, float]) -> None:
        """Note one iteration's numbers under its iteration."""
        values = [Summary.Value(tag=name, simple_value=value) for name, value in row.items()]
        event = Event(
            step=int(row["iteration"]), wall_time=time.time(), summary=Summary(value=values)
        )
        self._writer.write_event(event)
        self._writer.flush()

    def close(self) -> None:
        """Free the file; everything is in it already."""
        with contextlib.suppress(OSError):
            self._writer.close()


class WeightsAndBiases:
    """A run at wandb.ai; needs the `wandb` extra."""

    def __init__(self, project: str, run: Run):
        try:
            import wandb  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise BadInput(
                "Weights & Biases needs the package wandb; install it with: pip install 'shapo[wandb]'"
            ) from None
        self._run = wandb.init(
            project=project,
            name=run.folder.name,
            id=run.id,
            resume="allow",
            dir=str(run.folder),
            config=dataclasses.asdict(run.experiment),
        )

    def record(self, row: Mapping[str, float]) -> None:
        """Note one iteration's numbers under its iteration."""
        self._run.log(dict(row), step=int(row["iteration"]))

    def close(self) -> None:
        """Finish the upload."""
        self._run.finish()
