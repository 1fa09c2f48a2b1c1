"""From a thing to its name, or to a description that nothing takes for a name.

A lambda, a class within a function, or an object made of others has no name: what is recorded of it must still be the
same tomorrow, and another if it does something else.
"""

import ast
import dataclasses
import functools
import hashlib
import inspect
import re
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from shapo.experiment.experiment import Experiment
from shapo.experiment.extensions import CUSTOM, IN_ALGO, Name, is_custom, literal, load, parse
from shapo.words import BadInput

PASS_WHAT_MAKES_IT = "pass the class, or a function that makes it: each worker makes its own"
"""Instead of an environment."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def really(experiment: Experiment, env: object, algorithm: object) -> Experiment:
    """The experiment under the names of what is really used, where an environment or an algorithm is passed."""
    if not isinstance(experiment, Experiment):
        raise BadInput(f"train wants an Experiment, such as Experiment({experiment!r})")
    if isinstance(env, str):
        raise BadInput(f"env is {env!r}; a name belongs in the experiment: Experiment(env={env!r})")
    if env is not None and not callable(env):
        raise BadInput(f"env is a {type(env).__name__} that is made already; {PASS_WHAT_MAKES_IT}")
    if env is not None:
        experiment = dataclasses.replace(experiment, env=name_of(env))
    if algorithm is not None:
        own = {"algo": name_of(algorithm), "gradient": IN_ALGO}
        experiment = dataclasses.replace(experiment, **own)
    for passed, name, argument in (
        (env, experiment.env, "env"),
        (algorithm, experiment.algo, "algorithm"),
    ):
        if passed is None and is_custom(name):
            raise BadInput(
                f"{argument} was a Python object, {name.removeprefix(CUSTOM)}: pass the same again, "
                f"shapo.train(…, {argument}=…)"
            )
    return experiment


def name_of(thing: object) -> str:
    """The name that leads back to a thing, or its description if none does."""
    name = _named(thing)
    return str(name) if name else f"{CUSTOM}{described(thing)}"


def described(thing: object, within: tuple[object, ...] = ()) -> str:
    """What a Python object is, in a line, without the address at which it happens to lie; `within` are those it is of.

    Functions are told apart by their code and by what they have been given: defaults, and what they see around them.
    """
    if any(thing is each for each in within):
        return "itself"
    part = functools.partial(described, within=(*within, thing))
    if isinstance(thing, types.FunctionType | type):
        name = _named(thing)
        return str(name) if name else _described_code(thing, part)
    if isinstance(thing, functools.partial):
        given = [*map(part, thing.args), *_pairs(thing.keywords, part)]
        return f"partial({', '.join([part(thing.func), *given])})"
    if dataclasses.is_dataclass(thing):
        return f"{type(thing).__name__}({', '.join(_pairs(_fields(thing), part))})"
    if isinstance(thing, tuple | list):
        return f"({', '.join(map(part, thing))})"
    if isinstance(thing, set | frozenset):  # in an order that is every process's
        return f"{{{', '.join(sorted(map(part, thing)))}}}"
    if isinstance(thing, dict):
        return f"{{{', '.join(f'{part(key)}: {part(value)}' for key, value in thing.items())}}}"
    if (numbers := _numbers(thing)) is not None:  # whose repr shows a part only
        return f"array({numbers.dtype}{numbers.shape} {_digest(numbers.tobytes())})"
    return (
        repr(thing) if isinstance(thing, str) else " ".join(_ADDRESS.sub("", repr(thing)).split())
    )


def _numbers(thing: Any) -> np.ndarray | None:
    """An array of NumPy or JAX as NumPy's, if numbers are all that is in it; here nobody imports JAX."""
    jax = sys.modules.get("jax")
    is_array = isinstance(thing, np.ndarray | jax.Array if jax else np.ndarray)
    of_numbers = is_array and isinstance(thing.dtype, np.dtype) and not thing.dtype.hasobject
    return np.asarray(thing) if of_numbers else None  # a key of JAX's is of no dtype of NumPy's


def _pairs(given: Mapping[str, Any], part: Callable[[object], str]) -> list[str]:
    return [f"{key}={part(value)}" for key, value in given.items()]


def _fields(thing: Any) -> dict[str, Any]:
    return {each.name: getattr(thing, each.name) for each in dataclasses.fields(thing)}


def _named(thing: Any) -> Name | None:
    if isinstance(thing, functools.partial):
        return None if thing.args else _called(thing.func, thing.keywords)
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        return _called(type(thing), _fields(thing))
    module, path = getattr(thing, "__module__", ""), getattr(thing, "__qualname__", "")
    name = parse(f"{module}:{path}") if module != "__main__" else None
    try:
        return name if name and load(str(name)) is thing else None
    except ValueError:
        return None


def _called(factory: object, keywords: Mapping[str, Any]) -> Name | None:
    """The name of a call, if its arguments can be written down."""
    name = _named(factory)
    literal = all(_is_literal(value) for value in keywords.values())
    return name._replace(keywords=keywords) if name and literal else None


def _is_literal(value: object) -> bool:
    try:
        return literal(ast.parse(repr(value), mode="eval").body) == value
    except (ValueError, SyntaxError):
        return False


def _described_code(thing: types.FunctionType | type, part: Callable[[object], str]) -> str:
    """A function or class that cannot be imported: where it is from, and a number that changes with what it does."""
    place = f"{thing.__qualname__} in {thing.__module__}"
    if isinstance(thing, type):
        return place
    named = sorted((thing.__kwdefaults__ or {}).items())
    values = (*(thing.__defaults__ or ()), *(value for _, value in named), *_closure(thing))
    parts = [*_code(thing.__code__), *map(part, values)]
    return f"{place} {_digest(repr(parts).encode())}"


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=4).hexdigest()


def _closure(function: types.FunctionType) -> list[object]:
    values = inspect.getclosurevars(function).nonlocals
    return [values[name] for name in sorted(values)]


def _code(code: types.CodeType) -> list[object]:
    return [code.co_code, code.co_names, *map(_constant, code.co_consts)]


def _constant(value: object) -> object:
    if isinstance(value, types.CodeType):
        return _code(value)
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    return _ADDRESS.sub("", repr(value))
