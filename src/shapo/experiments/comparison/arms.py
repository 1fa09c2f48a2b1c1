"""The ways of training that are compared: read from what a person typed, or found among runs; named by what differs."""

import argparse
from collections.abc import Sequence
from typing import Any

from shapo.experiment import Experiment
from shapo.experiment.choices import kinds
from shapo.experiment.experiment import DECISIVE
from shapo.experiment.extensions import IN_ALGO
from shapo.experiments.groups import Group, critics_said, grouped
from shapo.experiments.style import LOOKS
from shapo.experiments.sweep.naming import shown
from shapo.runs.folder import Run
from shapo.words import READERS, BadInput, nearest, steps_text

KINDS = kinds(Experiment)
NEVER_SAID = ("seed", "workers")
"""The same in all arms, or without influence on the result."""


def read_arm(text: str) -> dict[str, Any]:
    """The choices in `gradient=shapo pessimism=1e-3`; of several numbers in one choice, commas are between them."""
    choices: dict[str, Any] = {}
    for pair in _pairs(text):
        key, equals, value = pair.partition("=")
        name = key.replace("-", "_")
        if not equals or not value:
            raise BadInput(f"--arm {text!r}: {pair!r} must be key=value, such as gradient=shapo")
        if name not in KINDS:
            raise BadInput(f"--arm {text!r}: unknown key {key!r}{nearest(name, KINDS)}")
        if name in choices:
            raise BadInput(f"--arm {text!r}: {key} is said twice; keep one")
        if name == "seed":
            raise BadInput(f"--arm {text!r}: all arms have the same seeds; --seeds says how many")
        try:
            choices[name] = _value(name, value)
        except argparse.ArgumentTypeError as error:
            raise BadInput(f"--arm {text!r}: {key}: {error}") from None
    if not choices:
        raise BadInput("--arm is empty; give it at least one key=value, such as gradient=shapo")
    return choices


def _pairs(text: str) -> list[str]:
    """The words of a text; a space between brackets is part of its word."""
    words, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter.isspace() and depth == 0:
            words.append("")
        else:
            words[-1] += letter
    return [word for word in words if word]


def _value(name: str, text: str) -> Any:
    kind = KINDS[name]
    read = READERS[kind.item]
    return tuple(map(read, text.split(","))) if kind.several else read(text)


def distinct(experiments: Sequence[Experiment]) -> list[Experiment]:
    """The arms' experiments up to their seed; BadInput if they cannot stand side by side."""
    arms = [each.essence("seed") for each in experiments]
    for number, arm in enumerate(arms, 1):
        if (first := arms.index(arm) + 1) < number:
            raise BadInput(f"arms {first} and {number} are the same experiment; leave one away")
    if len(envs := sorted({arm.env for arm in arms})) > 1:
        raise BadInput(
            f"{len(envs)} environments ({', '.join(envs)}): compare those of one; `shapo report` shows all"
        )
    if len({len(arm.cost_limit) for arm in arms}) > 1:
        raise BadInput("the arms have different numbers of costs; they must have the same")
    if len(arms) > len(LOOKS):
        raise BadInput(
            f"{len(arms)} arms are too many to tell apart (at most {len(LOOKS)}); `shapo report` shows all"
        )
    return arms


def arms_of(runs: Sequence[Run]) -> list[Group]:
    """The runs' arms, in the order in which they first appear, under the names that tell them apart."""
    appeared = list(dict.fromkeys(run.experiment.essence("seed") for run in runs))
    groups = sorted(grouped(runs), key=lambda group: appeared.index(group.experiment))
    called = names(distinct([group.experiment for group in groups]))
    return [group._replace(label=name) for group, name in zip(groups, called, strict=True)]


def names(arms: Sequence[Experiment]) -> list[str]:
    """What to call each arm: whatever tells it from the others, and does not follow from the rest."""
    return [_name(arm, arms) for arm in arms]


def _name(mine: Experiment, arms: Sequence[Experiment]) -> str:
    def differs(name: str, others: Sequence[Experiment]) -> bool:
        return any(getattr(each, name) != getattr(mine, name) for each in others)

    decisive = {name: getattr(mine, name) for name in DECISIVE}
    family = [arm for arm in arms if all(getattr(arm, n) == v for n, v in decisive.items())]
    usual, idle = Experiment(**decisive), mine.idle()
    words = [value for name, value in decisive.items() if differs(name, arms) and value != IN_ALGO]
    if words[1:] == ["plain"]:
        words.pop()
    for name in KINDS:
        value = getattr(mine, name)
        said = differs(name, family) or (value != getattr(usual, name) and differs(name, arms))
        if said and name not in (*NEVER_SAID, *DECISIVE, *idle):
            words.append(_said(name, value))
    return " · ".join(words or [mine.algo, mine.gradient])


def _said(name: str, value: Any) -> str:
    if name == "steps":
        return f"{steps_text(value)} steps"
    return critics_said(value) if name == "critic_gradient" else f"{name} {shown(value)}"
