"""What a checkpoint and a policy remember of the config they come from, so that neither is used with another."""

import json
from typing import Any

from shapo.words import BadInput

FREE = ("workers", "steps")
"""Choices that a run may be continued with differently: they decide how fast and how far, not what comes out."""


def remembered(config: Any) -> str:
    """The choices of a `config.json`'s content as one line."""
    try:
        return json.dumps(
            {**config["experiment"], "custom": config.get("custom", {})}, sort_keys=True
        )
    except (KeyError, TypeError, AttributeError):
        raise BadInput("config.json is not a run's config") from None


def decisive(origin: str) -> str:
    """What was remembered, but for the choices that do not decide the numbers."""
    return json.dumps({k: v for k, v in json.loads(origin).items() if k not in FREE})


def differences(config: Any, origin: str) -> dict[str, str]:
    """How a config differs from what was remembered, by choice; nothing where that was not remembered."""
    now = json.loads(remembered(config))
    try:
        then = dict(json.loads(origin or "{}"))
    except (ValueError, TypeError, RecursionError):
        return {"config": "what it is compared with cannot be read"}
    return {
        name: f"{name} is {now.get(name)}, but was {then[name]}"
        for name in sorted(then)
        if now.get(name) != then[name]
    }
