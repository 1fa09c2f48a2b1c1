"""Choices that were made and do nothing: whoever made them is told, in the words in which they were made."""

from collections.abc import Iterable, Sequence

from shapo.experiment.choices import kinds
from shapo.experiment.experiment import Experiment


def idle_among(names: Iterable[str], experiments: Sequence[Experiment]) -> dict[str, str]:
    """Those of the choices that do nothing in any of the experiments, each with what it would need."""
    idle = [experiment.idle() for experiment in experiments]
    return {name: idle[0][name] for name in names if all(name in each for each in idle)}


def chosen(experiment: Experiment) -> list[str]:
    """The choices that are not as published for its environment, algorithm and gradient rule: somebody made them."""
    usual = Experiment(experiment.env, experiment.algo, experiment.gradient)
    return [name for name in kinds(Experiment) if getattr(experiment, name) != getattr(usual, name)]
