"""Whether a run's folder still is what was written, and leads nowhere else.

A finished run is sealed: `manifest.json` holds a checksum of its config, rows and policy. Before that the newest
checkpoint knows how the rows began.
"""

import hashlib
import os
import stat
from pathlib import Path

from shapo.runs import policies
from shapo.runs.absent import CONFIG
from shapo.runs.checkpoints import Checkpoint, damaged, newest_first
from shapo.runs.files import Damaged, read_json, write_json
from shapo.runs.origin import FREE, differences
from shapo.runs.tables import Extent, check_extent
from shapo.words import BadInput, printable

TABLES = ("progress.csv", "episodes.csv")
SEALED = (CONFIG, *TABLES, policies.FILE)
MANIFEST = "manifest.json"


class LeadsElsewhere(BadInput):
    """A run's folder holds something that is not plain data of its own: a link out of it, a device, a pipe."""


def check_inside(folder: Path) -> None:
    """Raise `LeadsElsewhere` unless everything in the folder is a plain file or folder within it."""
    root = os.path.realpath(folder)
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = os.path.join(place, name)
            try:
                mode = os.lstat(path).st_mode
            except FileNotFoundError:
                continue  # a training that goes on right now has replaced it
            if stat.S_ISLNK(mode) and not _is_inside(os.path.realpath(path), root):
                raise LeadsElsewhere(
                    f"{printable(path)} is a link out of the run's folder; remove it or put the file there"
                )
            if not (stat.S_ISLNK(mode) or stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise LeadsElsewhere(f"{printable(path)} is no plain file; remove it")


def seal(folder: Path) -> None:
    """Say that the run is finished, and what its files are."""
    digests = {name: _digest(folder / name) for name in SEALED}
    write_json(folder / MANIFEST, digests)


def is_sealed(folder: Path) -> bool:
    """Whether the run was finished."""
    return (folder / MANIFEST).exists()


def altered(folder: Path) -> list[str]:
    """A line about each of a run's config, rows and policy that is not what was written."""
    try:
        check_inside(folder)
        if is_sealed(folder):
            return list(broken_seals(folder).values())
        return _unlike_checkpoint(folder)
    except BadInput as error:
        return [str(error)]


def check(folder: Path) -> list[str]:
    """A line about everything in a run's folder that is damaged: as `altered`, and every checkpoint and policy."""
    problems = altered(folder) + damaged(folder / "checkpoints")
    if (folder / policies.FILE).exists():
        try:
            policies.load(folder / policies.FILE)
        except Damaged as error:
            problems.append(str(error))
    return list(dict.fromkeys(problems))


def altered_rows(folder: Path, checkpoint: Checkpoint) -> list[str]:
    """A line about each table that does not begin as the checkpoint knows it."""
    problems = []
    for name in TABLES:
        try:
            check_extent(folder / name, Extent.parse(checkpoint.facts.get(name, "0:")))
        except (ValueError, OSError) as error:
            problems.append(str(error))
    return problems


def broken_seals(folder: Path) -> dict[str, str]:
    """Of a finished run, a line about each file that is not what was written, by its name."""
    digests = read_json(folder / MANIFEST)
    if not isinstance(digests, dict) or set(digests) != set(SEALED):
        raise Damaged(f"{folder / MANIFEST} is damaged (it does not list the run's files)")
    problems = {}
    for name, digest in digests.items():
        path = folder / name
        if not path.exists():
            problems[name] = f"{path} is missing"
        elif _digest(path) != digest:
            problems[name] = f"{path} is not what was written (its checksum is wrong)"
    return problems


def _unlike_checkpoint(folder: Path) -> list[str]:
    for found in newest_first(folder / "checkpoints"):
        if not isinstance(found, Damaged):
            config = read_json(folder / CONFIG)
            changed = differences(config, found.facts.get("experiment", ""))
            said = [
                f"{folder / CONFIG}: {text}" for name, text in changed.items() if name not in FREE
            ]
            return altered_rows(folder, found) + said
    return []


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _is_inside(path: str, root: str) -> bool:
    return path == root or path.startswith(root + os.sep)
