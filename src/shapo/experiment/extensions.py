"""A thing of the user's own and its name: `module:factory`, or `module:factory(key=literal, …)`.

Where a name of ours may stand, such a name may stand, too. What has no such name, a lambda or an object made of others,
is recorded as a description that nothing takes for a name.
"""

import ast
import dataclasses
import functools
import hashlib
import importlib
import inspect
import os
import re
import sys
import types
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

CUSTOM = "custom: "
"""How the description of a thing without a name begins."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Name(NamedTuple):
    """A name taken apart."""

    module: str
    path: str
    """Of the attribute within the module; it may have dots."""
    keywords: dict[str, Any]


def is_custom(name: str) -> bool:
    """Whether this is the description of a Python object rather than a name."""
    return name.startswith(CUSTOM)


def code_in(choices: Mapping[str, Any]) -> dict[str, str]:
    """Those of an experiment's choices that name code, which is imported when they are used."""
    return {
        name: value
        for name, value in choices.items()
        if isinstance(value, str) and ":" in value and not is_custom(value)
    }


def parse(text: str) -> Name | None:
    """The parts of `module:factory(key=literal)`; None if the text is no such name."""
    module, colon, rest = text.partition(":")
    path, bracket, arguments = rest.partition("(")
    parts = [*module.split("."), *path.split(".")]
    if not colon or not all(part.isidentifier() for part in parts):
        return None
    if not bracket:
        return Name(module, path, {})
    try:
        call = ast.parse(f"f({arguments}", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError
        keywords = {_key(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except (SyntaxError, ValueError):
        raise ValueError(
            f"{text}: between the brackets only key=value may stand, each value a number, a text or a tuple of them"
        ) from None
    return Name(module, path, keywords)


def _key(name: str | None) -> str:
    if name is None:
        raise ValueError("** has no place here")
    return name


def look_here() -> None:
    """Find a user's own modules where the command is given; behind all else, so that none can pose as another."""
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)


def _module(name: str) -> types.ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        look_here()
        return importlib.import_module(name)


def resolve(name: Name) -> Any:
    """What a name stands for; imports its module."""
    try:
        return functools.reduce(getattr, name.path.split("."), _module(name.module))
    except ImportError as error:
        raise ValueError(
            f"{name.module}:{name.path}: cannot import {name.module} ({error})"
        ) from None
    except AttributeError:
        raise ValueError(
            f"{name.module}:{name.path}: there is no {name.path} in {name.module}"
        ) from None


def name_of(thing: object) -> str:
    """The name that leads back to a thing, or its description if none does."""
    name = _named(thing)
    return name if name is not None else f"{CUSTOM}{described(thing)}"


def described(thing: object) -> str:
    """What a Python object is, in a line, without the address at which it happens to lie."""
    if isinstance(thing, types.FunctionType | type):
        return _named(thing) or _described_code(thing)
    if isinstance(thing, functools.partial):
        given = [*map(described, thing.args), *_pairs(thing.keywords.items())]
        return f"partial({', '.join([described(thing.func), *given])})"
    if dataclasses.is_dataclass(thing):
        fields = ((each.name, getattr(thing, each.name)) for each in dataclasses.fields(thing))
        return f"{type(thing).__name__}({', '.join(_pairs(fields))})"
    if type(thing) in (tuple, list):
        return f"({', '.join(map(described, thing))})"  # pyright: ignore[reportArgumentType]
    return " ".join(_ADDRESS.sub("", repr(thing)).split())


def _pairs(items: Iterable[tuple[str, Any]]) -> list[str]:
    return [f"{key}={described(value)}" for key, value in items]


def _named(thing: object) -> str | None:
    if isinstance(thing, functools.partial):
        return None if thing.args else _called(thing.func, thing.keywords)
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        fields = {each.name: getattr(thing, each.name) for each in dataclasses.fields(thing)}
        return _called(type(thing), fields)
    module, path = getattr(thing, "__module__", None), getattr(thing, "__qualname__", "")
    name = parse(f"{module}:{path}") if module != "__main__" else None
    try:
        return f"{module}:{path}" if name and resolve(name) is thing else None
    except ValueError:
        return None


def _called(factory: object, keywords: dict[str, Any]) -> str | None:
    """The name of a call whose arguments can be written down."""
    name = _named(factory)
    if name is None or not all(_is_literal(value) for value in keywords.values()):
        return None
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in keywords.items())})"


def _is_literal(value: object) -> bool:
    try:
        return ast.literal_eval(repr(value)) == value
    except (ValueError, SyntaxError):
        return False


def _described_code(thing: types.FunctionType | type) -> str:
    """A function or class that cannot be imported: where it is from, and a number that changes with what it does."""
    place = f"{thing.__qualname__} in {thing.__module__}"
    if isinstance(thing, type):
        return place
    parts = [
        *_code(thing.__code__),
        *map(_constant, (*(thing.__defaults__ or ()), *_closure(thing))),
    ]
    return f"{place} {hashlib.blake2b(repr(parts).encode(), digest_size=4).hexdigest()}"


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
