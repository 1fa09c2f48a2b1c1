"""Names of run folders: what tells a run from the others, readable at a glance.

A run is found again by its configuration, never by its name, so names may say only as much as a reader needs.
"""

import dataclasses
import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence

from shapo.experiment import Experiment
from shapo.words import cut, folder_name

SAID_ANYWAY = ("env", "algo", "gradient", "seed", "workers")
"""Stated in every name, or (the workers) without influence on the result."""
CHOICES = tuple(f.name for f in dataclasses.fields(Experiment) if f.name not in SAID_ANYWAY)
LONGEST = 150
"""Bytes; file systems allow 255."""


def run_names(
    experiments: Sequence[Experiment], beside: Iterable[Experiment], taken: Iterable[str]
) -> list[str]:
    """A name for each experiment, different from each other and from those taken.

    It says environment, algorithm, gradient rule and seed, and whatever else differs among the runs that share the
    first three, those `beside` them included.
    """
    families: dict[tuple[str, str, str], list[Experiment]] = {}
    for each in (*experiments, *beside):
        families.setdefault(_family(each), []).append(each)
    varying = {family: _varying(members) for family, members in families.items()}
    used, names = set(taken), []
    for experiment in experiments:
        suggestions = _suggestions(experiment, varying[_family(experiment)])
        name = next(name for name in suggestions if name not in used)
        used.add(name)
        names.append(name)
    return names


def _varying(family: Sequence[Experiment]) -> list[str]:
    """The choices in which its members differ."""
    return [choice for choice in CHOICES if len({getattr(each, choice) for each in family}) > 1]


def _suggestions(experiment: Experiment, varying: Sequence[str]) -> Iterator[str]:
    """Ever longer names; the first is nearly always free."""
    name = _name(experiment, varying)
    distinct = f"{name}_{_fingerprint(experiment)}"
    yield from (name, distinct)
    yield from (f"{distinct}_{number}" for number in itertools.count(2))


def _family(experiment: Experiment) -> tuple[str, str, str]:
    return experiment.env, experiment.algo, experiment.gradient


def _name(experiment: Experiment, varying: Sequence[str]) -> str:
    said = [f"{name.replace('_', '-')}={shown(getattr(experiment, name))}" for name in varying]
    words = "_".join([*_family(experiment), *said])
    whole = folder_name(words)
    short = cut(whole, LONGEST)
    safe = whole if short == whole else f"{short}_{_fingerprint(experiment)}"
    return f"{safe}_s{experiment.seed}"


def _fingerprint(experiment: Experiment) -> str:
    choices = dataclasses.asdict(experiment.essence())
    return hashlib.blake2b(json.dumps(choices).encode(), digest_size=4).hexdigest()


def shown(value: object) -> str:
    """A choice's value, short and exact."""
    if isinstance(value, tuple):
        return "x".join(map(shown, value))
    if not isinstance(value, int | float):
        return str(value)
    short = f"{value:g}"
    exact = short if float(short) == value else repr(value)
    return exact.replace("e+0", "e").replace("e-0", "e-")
