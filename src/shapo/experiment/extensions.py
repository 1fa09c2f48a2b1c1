"""From a name to a thing of the user's own: `module:factory`, or `module:factory(key=literal, …)`.

Where a name of ours may stand, such a name may stand, too. What a name stands for is Python code, so a name that was
read from a file is only text until the user gives the same one.
"""

import ast
import functools
import importlib
import inspect
import os
import shlex
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from shapo.words import BadInput, nearest, option_of

CUSTOM = "custom: "
"""How the description of a thing without a name begins."""
IN_ALGO = f"{CUSTOM}in algo"
"""The gradient rule of a run whose algorithm was passed as a Python object, which has its own."""


class Recorded(str):
    """A name that was read from a file: it equals the same name, but nothing is imported because of it."""


class Name(NamedTuple):
    """A name taken apart."""

    module: str
    path: str
    """Of the attribute within the module; it may have dots."""
    keywords: Mapping[str, Any]

    def __str__(self) -> str:
        """The one way to write it."""
        arguments = ", ".join(f"{key}={value!r}" for key, value in self.keywords.items())
        return f"{self.module}:{self.path}" + (f"({arguments})" if arguments else "")


def is_custom(name: str) -> bool:
    """Whether this is the description of a Python object rather than a name."""
    return name.startswith(CUSTOM)


def code_in(names: Mapping[str, str]) -> dict[str, str]:
    """Those of an experiment's names that are code, which is imported when they are used.

    Not only what `parse` knows: of an id such as `module:Maze-v0`, too, Gymnasium imports the module.
    """
    return {choice: name for choice, name in names.items() if ":" in name and not is_custom(name)}


def parse(text: str) -> Name | None:
    """The parts of `module:factory(key=literal)`; None if the text is no such name."""
    module, colon, rest = text.partition(":")
    path, bracket, arguments = rest.partition("(")
    parts = [*module.split("."), *path.split(".")]
    if not colon or not all(part.isidentifier() for part in parts):
        return None
    return Name(module, path, _keywords(text, arguments) if bracket else {})


def _keywords(text: str, arguments: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f({arguments}", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise SyntaxError
        found = {each.arg: literal(each.value) for each in call.keywords}
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):  # nested too deeply
        found = {None: None}
    if None in found:
        raise BadInput(
            f"{text}: between the brackets only key=value may stand, each value a number, a text or a tuple of them"
        )
    return {str(key): value for key, value in found.items()}


def literal(expression: ast.expr) -> Any:
    """The value that is written there; a ValueError if it is none, or none that is always written alike."""
    if any(isinstance(each, ast.Set) for each in ast.walk(expression)):
        raise BadInput("a set is written in another order by each process")
    return ast.literal_eval(expression)


def spelled(text: str) -> str:
    """A name in the one way to write it; any other text as it is."""
    name = parse(text)
    return type(text)(name) if name else text


def require_named(names: Mapping[str, str]) -> None:
    """Raise BadInput if code that only a file names would be used; `names` are by choice."""
    for choice, name in names.items():
        if isinstance(name, Recorded) and (options := as_options({choice: name})):
            raise BadInput(f"this run uses {name}; add {options[0]} to say that you trust it")


def as_options(names: Mapping[str, str]) -> list[str]:
    """What a command line must say so that the code among these names is trusted."""
    return [f"{option_of(choice)} {shlex.quote(name)}" for choice, name in code_in(names).items()]


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


def load(text: str) -> Callable[..., Any]:
    """What a name stands for, with its keywords filled in; imports its module. BadInput says what is wrong."""
    name = parse(text)
    if name is None:
        raise BadInput(f"{text}: write it as module:factory or module:factory(key=value, …)")
    if isinstance(text, Recorded):
        raise BadInput(f"{text} is named by a file only; name it yourself to say that you trust it")
    try:
        found: Any = functools.reduce(getattr, name.path.split("."), _module(name.module))
    except ModuleNotFoundError as error:
        where = f"; it is looked for in {os.getcwd()} and where Python looks (PYTHONPATH)"
        lacking = where if name.module.startswith(str(error.name)) else ""
        raise BadInput(f"{text}: cannot import {name.module} ({error}){lacking}") from None
    except ImportError as error:
        raise BadInput(f"{text}: cannot import {name.module} ({error})") from None
    except AttributeError:
        near = nearest(name.path, vars(_module(name.module)))
        raise BadInput(f"{text}: there is no {name.path} in {name.module}{near}") from None
    if not callable(found):
        kind = type(found).__name__
        raise BadInput(
            f"{text}: {name.path} cannot be called: it is no function or class, but {kind}"
        )
    try:
        inspect.signature(found).bind_partial(**name.keywords)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{text}: {error}") from None
    return functools.partial(found, **name.keywords) if name.keywords else found


def asked_by(text: str) -> set[str]:
    """The arguments that the factory of that name knows by name."""
    return set(inspect.signature(load(text)).parameters)


def make(text: str, **offered: Any) -> Any:
    """What the factory of that name returns, given those of `offered` that its signature asks for by name."""
    factory = load(text)
    asked = inspect.signature(factory)
    name = parse(text)
    if name and (said := sorted(name.keywords.keys() & offered.keys())):
        raise BadInput(
            f"{text}: {said[0]} is the experiment's own choice; say it there ({option_of(said[0])})"
        )
    accepted = {name: value for name, value in offered.items() if name in asked.parameters}
    try:
        asked.bind(**accepted)
    except TypeError as error:
        raise BadInput(f"{text}: {error}; give it in brackets, {text}(key=value)") from None
    return factory(**accepted)
