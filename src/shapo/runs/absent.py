"""Whether a run is there, and what to say where there is none: the culprit, and what was probably meant."""

import difflib
from pathlib import Path

CONFIG = "config.json"
"""What every run's folder has."""
ARCHIVE = ".runs.gz"
"""How an archive's name ends."""


def is_run(folder: Path) -> bool:
    """Whether a run has begun in this folder."""
    return (folder / CONFIG).exists()


def is_archive(path: Path) -> bool:
    """Whether it is a file that calls itself an archive."""
    return path.name.endswith(ARCHIVE) and path.is_file()


def in_archive(place: Path) -> bool:
    """Whether it is an archive, or would be in one."""
    return is_archive(place) or is_archive(place.parent)


def no_run(folder: Path) -> str:
    """A folder, or what should have been one, is no run's."""
    if in_archive(folder):
        return (
            f"{folder} is in an archive, which keeps the rows of runs, not policies or checkpoints; "
            "name the folder that the run was trained in"
        )
    if not folder.exists():
        return f"{folder} holds no run: there is no such folder{_near(folder, _runs_in(folder.parent))}"
    if not folder.is_dir():
        of_a_run = f"; name its folder, {folder.parent}" if is_run(folder.parent) else ""
        return f"{folder} holds no run: it is a file{of_a_run}"
    below = _runs_in(folder)
    if not below:
        return f"{folder} holds no run (no {CONFIG}){_near(folder, _runs_in(folder.parent))}"
    others = f"; `shapo runs {folder}` lists them all" if len(below) > 1 else ""
    return f"{folder} is a folder of runs; name one of them: {folder / below[0]}{others}"


def no_policy(folder: Path) -> str:
    """A run, or what should have been one, has no policy."""
    if is_run(folder):
        return f"{folder} holds no policy yet; a run writes it after its first iteration"
    return no_run(folder)


def no_folder(folder: Path) -> str:
    """Where any number of runs could have been there is nothing at all."""
    beside = [path.name for path in folder.parent.glob("*")] if folder.parent.is_dir() else []
    return f"{folder}: no such folder or archive{_near(folder, beside)}"


def _runs_in(folder: Path) -> list[str]:
    """By name; those a folder further down are found, too."""
    found = [*folder.glob(f"*/{CONFIG}"), *folder.glob(f"*/*/{CONFIG}")]
    return sorted(path.parent.relative_to(folder).as_posix() for path in found)


def _near(folder: Path, names: list[str]) -> str:
    near = difflib.get_close_matches(folder.name, names, n=1)
    return f"; did you mean {folder.parent / near[0]}?" if near else ""
