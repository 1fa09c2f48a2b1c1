"""Names of run folders: readable, and the same for the same experiment in every sweep."""

import dataclasses
import hashlib
import json

from shapo import presets
from shapo.experiment import Experiment

SAID_ANYWAY = ("env", "algo", "gradient", "seed", "workers")
"""Stated in every name, or (the workers) without influence on the result."""
LONGEST = 150
"""Characters; file systems allow 255 bytes."""


def run_name(experiment: Experiment) -> str:
    """Environment, algorithm, gradient rule, what differs from the published values, and the seed."""
    published = presets.experiment(experiment.env, experiment.algo, experiment.gradient)
    changed = [
        f"{field.name.replace('_', '-')}={_shown(getattr(experiment, field.name))}"
        for field in dataclasses.fields(Experiment)
        if field.name not in SAID_ANYWAY
        and getattr(experiment, field.name) != getattr(published, field.name)
    ]
    env = "".join(c if c.isalnum() or c in "-_." else "-" for c in experiment.env)
    parts = [env, experiment.algo, experiment.gradient, *changed]
    name, seed = "_".join(parts), f"_s{experiment.seed}"
    if len(name) > LONGEST:
        return name[:LONGEST] + "_" + _fingerprint(experiment) + seed
    return name + seed


def distinct_name(experiment: Experiment) -> str:
    """A name that no other experiment has, for when the readable one is taken."""
    return f"{run_name(experiment)}_{_fingerprint(experiment)}"


def _fingerprint(experiment: Experiment) -> str:
    choices = dataclasses.asdict(experiment.replace(workers=0))
    return hashlib.blake2b(json.dumps(choices).encode(), digest_size=4).hexdigest()


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "x".join(map(_shown, value))
    if not isinstance(value, int | float):
        return str(value)
    short = f"{value:g}"
    exact = short if float(short) == value else repr(value)
    return exact.replace("e+0", "e").replace("e-0", "e-")
