"""What a checkpoint and a policy remember of the config they come from, so that neither is used with another."""

import json
from typing import Any

from shapo.words import BadInput

FREE = ("workers", "steps")
"""Choices that a run may be continued with differently: they decide how fast and how far, not what comes out."""


def choices(config: Any) -> dict[str, Any]:
    """The experiment of a config as Python has it: words, numbers and tuples of them; ValueError for anything else."""
    found = {name: tuple(v) if isinstance(v, list) else v for name, v in config["experiment"].items()}
    for name, value in found.items():
        for item in value if isinstance(value, tuple) else (value,):
            if not isinstance(item, str | int | float) or not str(item).isprintable():
                raise BadInput(f"{name} cannot be {item!r}")
    return found


def remembered(config: Any) -> str:
    """All that decides the numbers, from the content of a `config.json`, as one line."""
    try:
        decisive = {name: v for name, v in config["experiment"].items() if name not in FREE}
        return json.dumps({**decisive, "custom": config.get("custom", {})}, sort_keys=True)
    except (KeyError, TypeError, AttributeError):
        raise BadInput("config.json is not a run's config") from None


def differences(config: Any, origin: str) -> list[str]:
    """How a config differs from what was remembered; nothing where nothing was."""
    if not origin or remembered(config) == origin:
        return []
    now = json.loads(remembered(config))
    try:
        then = dict(json.loads(origin))
    except (ValueError, TypeError, RecursionError):
        return ["what it is compared with cannot be read"]
    return [
        f"{name} is {now.get(name)}, but was {then.get(name)}"
        for name in sorted(now.keys() | then.keys())
        if now.get(name) != then.get(name)
    ]
