"""`config.json`: what was asked of a run, read without believing it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from shapo.experiment import Experiment
from shapo.experiment.choices import kinds
from shapo.experiment.extensions import Recorded
from shapo.runs.files import Damaged, read_json
from shapo.runs.provenance import UNKNOWN, Provenance, provenance_of
from shapo.words import BadInput, nearest

FORMER_NAMES = {
    "radius": "radius_per_dim",
    "damping": "damping_per_dim",
    "tolerance": "crpo_tolerance",
}
"""What some choices were called when the study was begun."""
EXAMPLE = '{"experiment": {"algo": "cpo"}}'
"""What somebody may write by hand."""


class BadConfig(BadInput):
    """A file that is not the configuration of a run, or not of this version; the message says why."""


class Config(NamedTuple):
    """What was asked, and of which shapo, where."""

    experiment: Experiment
    made: Provenance
    extended: bool
    """Whether it was begun for fewer steps than it was then asked for."""


def read_config(path: Path) -> Config:
    """The configuration in a file; raises `BadConfig`."""
    if not path.exists():
        raise BadConfig(f"{path.name} is missing")
    try:
        content = read_json(path)
    except Damaged as error:
        if path.suffix != ".json":
            raise BadConfig(
                f"{path.name} is not a run's config, which is JSON: {EXAMPLE}; a grid is for shapo sweep"
            ) from None
        raise BadConfig(f"{path.name} is not a run's config ({error})") from None
    return config_of(content, path.name)


def config_of(content: Any, file: str) -> Config:
    """What the content of a `config.json` says; `BadConfig` names the file that it comes from."""
    if isinstance(content, Mapping) and "experiment" not in content:
        raise BadConfig(f"{file} is not a run's config: choices belong in it like this, {EXAMPLE}")
    try:
        choices, made = dict(content["experiment"]), provenance_of(content)
        custom = dict(content.get("custom", {}))
        extended = [int(steps) for steps in content.get("extended_from", [])]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadConfig(f"{file} is not a run's config ({error})") from None
    for name, value in choices.items():
        if isinstance(value, str) and not value.isprintable():
            raise BadConfig(f"{file} is not a run's config ({name} cannot be {value!r})")
    if custom:
        raise BadConfig(
            f"{file} was written by shapo {made.version}, which called what was passed as Python objects by other names"
        )
    return Config(_experiment(file, choices, made.version), made, bool(extended))


def _experiment(file: str, choices: dict[str, Any], version: str) -> Experiment:
    known = kinds(Experiment)
    of = f"{file} is not a run's config"
    by = "" if version == UNKNOWN else f" (written by shapo {version})"
    for name in choices:
        if name not in known and name not in FORMER_NAMES:
            raise BadConfig(f"{of}: there is no choice {name!r}{nearest(str(name), known)}{by}")
    recorded: dict[str, Any] = {
        FORMER_NAMES.get(name, name): Recorded(value) if isinstance(value, str) else value
        for name, value in choices.items()
    }
    try:
        return Experiment(**recorded)
    except (ValueError, TypeError) as error:
        raise BadConfig(f"{of} of this version of shapo: {error}{by}") from None
