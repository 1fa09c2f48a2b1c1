"""`config.json`: what was asked of a run, read without believing it."""

import dataclasses
import json
from pathlib import Path
from typing import Any, NamedTuple

from shapo.experiment import Experiment


class BadConfig(ValueError):
    """A file that is not the configuration of a run, or not of this version; the message says why."""


class Config(NamedTuple):
    """What was asked, and of which shapo."""

    experiment: Experiment
    custom: dict[str, str]
    """What was passed as Python objects rather than by name, described."""
    version: str


def read_config(path: Path) -> Config:
    """The configuration in a file; raises `BadConfig`."""
    try:
        content = json.loads(path.read_text("utf-8"))
        choices, version = dict(content["experiment"]), str(content.get("version", "unknown"))
        custom = {str(name): str(text) for name, text in content.get("custom", {}).items()}
    except FileNotFoundError:
        raise BadConfig(f"{path.name} is missing") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadConfig(f"{path.name} is not a run's config ({error})") from None
    return Config(_experiment(path.name, choices, version), custom, version)


def _experiment(file: str, choices: dict[str, Any], version: str) -> Experiment:
    fields: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(Experiment)}
    for name, value in choices.items():
        if name not in fields:
            raise BadConfig(
                f"{file} is not a run's config of this version of shapo: {name!r} is unknown here "
                f"(written by shapo {version})"
            )
        default = fields[name]
        kind = (int, float) if isinstance(default, float) else type(default)
        if isinstance(default, tuple) and isinstance(value, list):
            fields[name] = tuple(value)
        elif isinstance(value, kind):
            fields[name] = value
        else:
            raise BadConfig(f"{file} is not a run's config: {name} cannot be {value!r}")
    return Experiment(**fields)
