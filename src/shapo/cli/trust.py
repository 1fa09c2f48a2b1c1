"""A run's folder is data: code that it names is imported only if whoever gives the command names the same."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from shapo.experiment.extensions import code_in
from shapo.runs.folder import Run
from shapo.words import BadInput


def require_named(run: Run, choices: Mapping[str, Any]) -> None:
    """Raise BadInput unless each piece of code that a run is made of is among the choices of a command line, too."""
    for name, value in code_in(dataclasses.asdict(run.experiment)).items():
        if choices.get(name) != value:
            raise BadInput(
                f"{run.folder} was trained with {name} {value}, which is code, and not imported because a folder "
                f"says so; if it is yours, add --{name.replace('_', '-')} '{value}'"
            )
