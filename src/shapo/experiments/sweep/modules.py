"""A user's own code on another machine: the source of each module that an experiment names travels with the run."""

import importlib.util
import sysconfig
from pathlib import Path

from shapo.experiment import Experiment
from shapo.experiment.extensions import code_in, look_here
from shapo.experiments.sweep.mirror import Changes, Part


def sources(experiment: Experiment) -> Changes:
    """The modules and packages that an experiment names, as in `mytasks:Maze`.

    Nothing for names of ours, nor for what is installed: that must be installed on every machine.
    """
    look_here()
    names = code_in(experiment.names()).values()
    modules = {name.partition(":")[0].partition(".")[0] for name in names}
    return Changes([part for module in sorted(modules) for part in _files(module)], [])


def _files(module: str) -> list[Part]:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None or _installed(spec.origin):
        return []
    file = Path(spec.origin)
    root = file.parent.parent if spec.submodule_search_locations else file.parent
    files = file.parent.rglob("*.py") if spec.submodule_search_locations else [file]
    return [Part(path.relative_to(root).as_posix(), None, path.read_bytes()) for path in files]


def _installed(origin: str) -> bool:
    places = ("stdlib", "platstdlib", "purelib", "platlib")
    return any(Path(origin).is_relative_to(sysconfig.get_path(name)) for name in places)
