"""Many runs in one small file, to be published and redrawn: what was asked and a hundred rows of what happened.

A line of JSON per run, compressed. Rows are means over stretches of iterations (of what sums up the training so far,
the last value of each). The last tenth of the steps is cut into stretches of one length, so that its mean is the same
from an archive as from the run itself.
"""

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shapo.runs.absent import ARCHIVE, CONFIG, is_archive
from shapo.runs.config import BadConfig, config_of
from shapo.runs.files import write_atomically
from shapo.runs.folder import Run
from shapo.runs.history import FINAL_SHARE, History, flaw, known_mean
from shapo.words import BadInput, counted

ROWS = 100
DIGITS = 7
LARGEST = 64 * 2**20
"""Bytes of an archive, unpacked: three thousand runs. A small file may unpack to more than there is memory."""
GROWING = (
    "iteration", "steps", "episodes", "cost/rate", "cost/total", "termination/total", "termination/rate",
    "samples/effective", "time/seconds",
)  # fmt: skip
"""What sums up the whole training so far: its last value says it all."""
KEPT = (
    *GROWING, "reward/episode", "cost/episode", "cost/limit", "cost/p80", "cost/p95", "episode/length",
    "policy/multiplier", "policy/kl", "policy/kept", "gradient/cosine", "gradient/kl",
    "gradient/distance", "gradient/alpha", "time/steps_per_second",
)  # fmt: skip


UNREADABLE = (
    OSError, EOFError, KeyError, TypeError, ValueError, AttributeError, OverflowError,
    RecursionError, zlib.error,
)  # fmt: skip
"""What reading a file that is no archive, or a damaged one, may raise."""


def write_archive(runs: Sequence[Run], path: Path) -> int:
    """Put finished runs, by name, into one file, each once, and return how many they are.

    Those that come from archives go in as they are. A file that is there is replaced only if nothing of it is lost.
    """
    if not path.name.endswith(ARCHIVE):
        raise BadInput(f"{path}: an archive's name ends in {ARCHIVE}")
    known = {
        archive / content["name"]: content
        for archive in {run.folder.parent for run in runs}
        if is_archive(archive)
        for content in _contents(archive)
    }
    packed: dict[str, dict] = {}
    for run in sorted(runs, key=lambda run: (run.folder.name, run.folder)):
        content = known.get(run.folder) or _packed(run)
        name = _free_name(content, packed)
        packed[name] = content | {"name": name}
    _require_nothing_lost(path, packed.values())
    text = "".join(f"{json.dumps(packed[name])}\n" for name in sorted(packed)).encode()
    if len(text) > LARGEST:
        raise BadInput(f"{path}: {_too_large()}; put the runs into several")
    # No time in the header: equal runs make an equal file.
    write_atomically(path, gzip.compress(text, mtime=0))
    return len(packed)


def read_archive(path: Path) -> list[Run]:
    """The runs of an archive, each with its rows; their folders are names below the file's, and do not exist."""
    try:
        return [_unpacked(path, content) for content in _contents(path)]
    except UNREADABLE as error:
        raise BadConfig(f"{path.name} is not an archive of runs ({error})") from None


def _require_nothing_lost(path: Path, kept: Iterable[dict]) -> None:
    if not path.exists():
        return
    try:
        there = {content["name"]: content["config"] for content in _contents(path)}
    except UNREADABLE as error:
        raise BadInput(
            f"{path} is there and cannot be read ({error}); write to another file"
        ) from None
    configs = [content["config"] for content in kept]
    lost = [name for name, config in there.items() if config not in configs]
    if lost:
        raise BadInput(
            f"{path} holds {counted(len(lost), 'run')} that would be lost, {min(lost)} for one; "
            "put them in, too, or write to another file"
        )


def _free_name(content: dict, taken: Mapping[str, dict]) -> str:
    """The run's name, numbered if another run has it; what is there already, by its config, keeps its place."""
    name, number = content["name"], 1
    while name in taken and taken[name]["config"] != content["config"]:
        number += 1
        name = f"{content['name']}-{number}"
    return name


def _contents(path: Path) -> list[dict]:
    with gzip.open(path) as file:
        text = file.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise BadInput(_too_large())
    return [json.loads(line) for line in text.decode().splitlines()]


def _too_large() -> str:
    return f"an archive holds at most {LARGEST:,} bytes"


def _packed(run: Run) -> dict:
    history = run.history
    columns = {name: values for name, values in history.columns.items() if _one(name) in KEPT}
    begins = _begins(len(history.values("steps")), int(history.late.sum()))
    return {
        "name": run.folder.name,
        "config": json.loads((run.folder / CONFIG).read_text("utf-8")),
        "rows": {name: _rows(name, values, begins) for name, values in columns.items()},
    }


def _begins(count: int, late: int) -> list[int]:
    """Where each of at most `ROWS` stretches of so many iterations begins; the `late` last ones share a length."""
    last = max(n for n in range(1, round(ROWS * FINAL_SHARE) + 1) if late % n == 0)
    early = count - late
    first = [
        stretch[0]
        for stretch in np.array_split(np.arange(early), min(ROWS - last, early) or 1)
        if len(stretch)
    ]
    return [*first, *range(early, count, late // last)]


def _rows(name: str, values: NDArray[np.float64], begins: Sequence[int]) -> list[float | None]:
    found = [in_short(name, stretch) for stretch in np.split(values, begins[1:])]
    return [None if np.isnan(x) else x for x in found]


def in_short(
    name: str, values: NDArray[np.float64], weights: NDArray[np.float64] | None = None
) -> float:
    """What an archive keeps of a column's values over a stretch of iterations, equally weighted unless told."""
    found = values[-1] if _one(name) in GROWING else known_mean(values, weights)
    return float(f"{found:.{DIGITS}g}")


def _one(name: str) -> str:
    """The column's name; of several costs, numbered from 1, without the number."""
    return re.sub(r"_\d+$", "", name)


def _unpacked(path: Path, content: dict) -> Run:
    columns = {
        str(name): np.array([np.nan if x is None else x for x in values], float)
        for name, values in content["rows"].items()
    }
    history = History(columns)
    name = str(content["name"])
    if problem := flaw(history):
        raise BadInput(f"what {name} recorded {problem}")
    config = config_of(content["config"], path.name)
    if name != Path(name).name or name == "..":
        raise BadInput(f"{name!r} leads out of it")
    # Rounded they would tell the run from another that has come as far.
    steps = (history.values("iteration") + 1) * config.experiment.batch_steps
    return Run(path / name, *config, moment=History(columns | {"steps": steps}))
