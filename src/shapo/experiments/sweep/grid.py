"""A grid of experiments in a file: what is a list is an axis, and the grid is every combination.

    env: [SafetyPointGoal1-v0, SafetyPointButton1-v0]
    algo: trpo-pid
    seeds: 5
    runs:
      - {gradient: plain}
      - {gradient: shapo, pessimism: [1e-5, 1e-4]}

gives 2 environments x (1 + 2) configurations x 5 seeds. What is not said takes the published value.
"""

import argparse
import itertools
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from shapo.experiment import Experiment
from shapo.experiment.choices import kinds
from shapo.words import READERS, BadInput, nearest

KINDS = kinds(Experiment)
FIELDS = tuple(KINDS)
KEYS = (*FIELDS, "seeds", "base", "runs")


class BadGrid(BadInput):
    """A description of a sweep that makes no sense; the message names the place and the cure."""


class Variant(NamedTuple):
    """What is stated under `runs` for one kind of run, and the experiments that it makes."""

    axes: Mapping[str, Sequence[Any]]
    experiments: list[Experiment]


def read_grid(path: Path) -> list[Experiment]:
    """The experiments that a YAML or TOML file describes."""
    try:
        return experiments(_parsed(path))
    except BadGrid as error:
        raise BadGrid(f"{path}: {error}") from None


def experiments(grid: Mapping[str, Any]) -> list[Experiment]:
    """The experiments that a grid describes, in the order it states them, each once."""
    _check_keys(grid, KEYS)
    base = _mapping("base", grid.get("base", {}))
    _check_keys(base, (*FIELDS, "seeds"))
    above = {name: value for name, value in grid.items() if name not in ("base", "runs")}
    if twice := sorted(base.keys() & above.keys()):
        raise BadGrid(f"{twice[0]} is stated twice, at the top and under base; keep one")
    stated = grid.get("runs", [{}])
    if not isinstance(stated, list) or not stated:
        raise BadGrid("runs must be a list of at least one variant, such as - {gradient: shapo}")
    variants = []
    for number, variant in enumerate(stated, 1):
        place = f"runs, variant {number}"
        _check_keys(_mapping(place, variant), (*FIELDS, "seeds"))
        variants.append(_combinations(_overridden({**base, **above}, variant)))
    _refuse_idle(variants)
    return list(dict.fromkeys(itertools.chain.from_iterable(each.experiments for each in variants)))


def _refuse_idle(variants: Sequence[Variant]) -> None:
    """What is stated must do something: a list in every run that it makes, a single value in some run of the grid."""
    idle = [each.idle() for variant in variants for each in variant.experiments]
    nowhere = set.intersection(*map(set, idle))
    for axes, experiments in variants:
        stated = {name for name, values in axes.items() if len(values) > 1 or name in nowhere}
        for each in experiments:
            for name in stated & each.idle().keys():
                raise BadGrid(
                    f"{name} does nothing in a run with algo {each.algo} and gradient {each.gradient}: "
                    f"it needs {each.idle()[name]}; state it under runs, only where it does something"
                )


def _parsed(path: Path) -> Mapping[str, Any]:
    readers = {".yaml": _from_yaml, ".yml": _from_yaml, ".toml": tomllib.loads}
    if path.suffix not in readers:
        raise BadGrid(f"a grid is a file ending in {', '.join(readers)}")
    try:
        content = readers[path.suffix](path.read_text("utf-8"))
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise BadGrid(f"cannot be read: {line}{error.problem}") from None
    except (yaml.YAMLError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadGrid(f"cannot be read: {' '.join(str(error).split())}") from None
    if not content:
        raise BadGrid("nothing in it; state at least env, algo or seeds")
    return _mapping("the file", content)


def _from_yaml(text: str) -> Any:
    """As `yaml.safe_load`, which of a key that is stated twice would silently take the last."""
    seen: set[int] = set()
    parts = [yaml.compose(text, yaml.SafeLoader)]
    while parts:
        node = parts.pop()
        if node is None or id(node) in seen:  # an alias may lead back to what it is part of
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            parts += node.value
        elif isinstance(node, yaml.MappingNode):
            _refuse_twice([key for key, _ in node.value])
            parts += itertools.chain.from_iterable(node.value)
    return yaml.safe_load(text)


def _refuse_twice(keys: Sequence[yaml.Node]) -> None:
    lines: dict[str, int] = {}
    for key in keys:
        name, line = str(key.value), key.start_mark.line + 1
        if name in lines:
            raise BadGrid(f"line {line}: {name} is stated in line {lines[name]}, too; keep one")
        lines[name] = line


def _mapping(place: str, content: Any) -> Mapping[str, Any]:
    if not isinstance(content, Mapping):
        raise BadGrid(f"{place} must be pairs such as algo: trpo-pid, not {content!r}")
    return content


def _check_keys(given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in given:
        if key not in known:
            raise BadGrid(f"unknown key {key!r}{nearest(str(key), known)}")


def _overridden(below: Mapping[str, Any], variant: Mapping[str, Any]) -> dict[str, Any]:
    """A variant's own seeds replace the common ones, whether it says `seed` or `seeds`."""
    renewed = ("seed", "seeds") if {"seed", "seeds"} & variant.keys() else ()
    return {name: value for name, value in below.items() if name not in renewed} | dict(variant)


def _combinations(choices: Mapping[str, Any]) -> Variant:
    axes = {name: _axis(name, value) for name, value in choices.items() if name != "seeds"}
    if "seeds" in choices:
        if "seed" in choices:
            raise BadGrid("seed and seeds are both stated; keep one")
        axes["seed"] = _seeds(choices["seeds"])
    try:
        experiments = [
            Experiment(**dict(zip(axes, values, strict=True)))
            for values in itertools.product(*axes.values())
        ]
    except ValueError as error:
        raise BadGrid(str(error)) from None
    return Variant(axes, experiments)


def _seeds(stated: Any) -> list[int]:
    seeds = (
        [_value("seeds", int, seed) for seed in stated]
        if isinstance(stated, list)
        else list(range(_value("seeds", int, stated)))
    )
    if not seeds:
        raise BadGrid(f"seeds is {stated}: that is no run at all; at least one is needed")
    if len(set(seeds)) < len(seeds):
        raise BadGrid(f"seeds {stated} names a seed twice")
    return seeds


def _axis(name: str, stated: Any) -> list[Any]:
    """The values that a field takes in turn."""
    values, kind = stated if isinstance(stated, list) else [stated], KINDS[name]
    # [64, 64] is one network; of limits on one cost, [10, 25] are two to be tried.
    if name == "hidden" and not any(isinstance(each, list) for each in values):
        values = [values]
    if not values:
        raise BadGrid(f"{name} is an empty list; give it a value or leave it out")
    if not kind.several:
        return [_value(name, kind.item, each) for each in values]
    parts = [each if isinstance(each, list) else [each] for each in values]
    return [tuple(_value(name, kind.item, part) for part in each) for each in parts]


def _value(name: str, kind: type, stated: Any) -> Any:
    """One value of a field. YAML takes 1e6 for a word, so numbers are read from words, too."""
    if isinstance(stated, bool | Mapping | list) or stated is None:
        raise BadGrid(f"{name} cannot be {stated!r}")
    try:
        return READERS[kind](str(stated))
    except argparse.ArgumentTypeError as error:
        raise BadGrid(f"{name}: {error}") from None
