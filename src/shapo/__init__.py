"""Reinforcement learning that stays safe while it learns.

    from shapo import Experiment, train, load
    run = train(Experiment(env="SafetyPointGoal1-v0", algo="trpo-pid", gradient="shapo"))
    action = load(run.folder).act(observation)

Everything is imported on first use: `import shapo` costs nothing, and JAX is loaded only where something is learned.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shapo import algorithms, envs, evaluate
    from shapo.experiment import Experiment
    from shapo.rules.gradients import Plain, Sam, Shapo, Slope
    from shapo.runs.folder import Run
    from shapo.runs.policies import TrainedPolicy, load
    from shapo.training import train

    __version__: str

_HOME = {
    "Experiment": "shapo.experiment",
    "Plain": "shapo.rules.gradients",
    "Run": "shapo.runs.folder",
    "Sam": "shapo.rules.gradients",
    "Shapo": "shapo.rules.gradients",
    "Slope": "shapo.rules.gradients",
    "TrainedPolicy": "shapo.runs.policies",
    "load": "shapo.runs.policies",
    "train": "shapo.training",
}
_MODULES = ("algorithms", "envs", "evaluate")

__all__ = [
    "Experiment", "Plain", "Run", "Sam", "Shapo", "Slope", "TrainedPolicy", "algorithms", "envs", "evaluate", "load",
    "train",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"shapo.{name}")
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name == "__version__":
        from shapo.runs.provenance import release

        return release()
    raise AttributeError(f"module 'shapo' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
