"""A user's own environment on another machine: the source of the module that defines it travels with the run."""

import importlib.util
import sysconfig
from pathlib import Path

from shapo.experiment.extensions import look_here
from shapo.experiments.sweep.mirror import Changes, Part


def sources(env: str) -> Changes:
    """The module or package that an environment id such as `mytasks:Maze` names.

    Nothing for other ids, nor for what is installed: that must be installed on every machine.
    """
    module, colon, _ = env.partition(":")
    if colon:
        look_here()
    spec = importlib.util.find_spec(module.partition(".")[0]) if colon else None
    if spec is None or spec.origin is None or _installed(spec.origin):
        return Changes([], [])
    file = Path(spec.origin)
    root = file.parent.parent if spec.submodule_search_locations else file.parent
    files = file.parent.rglob("*.py") if spec.submodule_search_locations else [file]
    parts = [Part(path.relative_to(root).as_posix(), None, path.read_bytes()) for path in files]
    return Changes(parts, [])


def _installed(origin: str) -> bool:
    places = ("stdlib", "platstdlib", "purelib", "platlib")
    return any(Path(origin).is_relative_to(sysconfig.get_path(name)) for name in places)
