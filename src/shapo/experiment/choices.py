"""What a choice may be, and with which others it does anything at all: written in its annotation, read here."""

import functools
import math
import types
import typing
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

from shapo.experiment.extensions import is_custom, parse, spelled
from shapo.words import BadInput, nearest

OWN = "module:factory"
"""In `OnlyWith`, stands for whatever is no name of ours."""
OWN_RULES = {"gradient": (OWN,), "critic_gradient": (OWN,), "schedule": (OWN,)}
"""What is asked at every update, and may look at everything."""


@dataclass(frozen=True)
class Range:
    """The numbers from `low` to `high`."""

    low: float
    high: float = math.inf
    open: Literal["", "low", "high", "both"] = ""
    """Which ends do not belong to it."""

    def __contains__(self, number: float) -> bool:
        above = self.low < number if self.open in ("low", "both") else self.low <= number
        below = number < self.high if self.open in ("high", "both") else number <= self.high
        return above and below and math.isfinite(number)

    def __str__(self) -> str:
        if self.low == -math.inf:
            return "finite"
        low = f"{'above' if self.open in ('low', 'both') else 'at least'} {self.low:g}"
        if self.high == math.inf:
            return low
        return (
            f"{low} and {'below' if self.open in ('high', 'both') else 'at most'} {self.high:,.10g}"
        )


class OnlyWith:
    """A choice does something only where one of these is made; where several of this are given, each must be met."""

    def __init__(self, **any_of: tuple[str, ...]):
        self._any_of = any_of

    def met_by(self, choices: Any) -> bool:
        """Whether one of them is made."""
        made = {name: getattr(choices, name) for name in self._any_of}
        return any(
            made[name] in values or (OWN in values and ":" in made[name])
            for name, values in self._any_of.items()
        )

    def __str__(self) -> str:
        return " or ".join(f"{name} {_listed(values)}" for name, values in self._any_of.items())


class Kind(NamedTuple):
    """What a choice may be, as its annotation says."""

    item: type
    """str, int or float."""
    several: bool
    """A tuple of items."""
    words: tuple[str, ...]
    """The known ones; none: any."""
    extensible: bool
    """Besides the known words, `module:factory` will do."""
    range: Range
    conditions: tuple[OnlyWith, ...]

    def normal(self, name: str, value: Any) -> Any:
        """The value in the type it is meant to have; BadInput, naming the choice, if it cannot be meant."""
        if self.item is str:
            return self._word(name, value)
        if not self.several:
            return self._number(value, f"{name} is {value!r}")
        items = tuple(value) if isinstance(value, list | tuple) else (value,)
        if not items:
            raise BadInput(f"{name} is {value!r}; give at least one number")
        return tuple(self._number(item, f"{name} is {value!r}") for item in items)

    def _number(self, value: Any, said: str) -> int | float:
        whole = self.item is int
        meant = isinstance(value, Real) and not isinstance(value, bool)
        if not meant or (whole and not isinstance(value, Integral) and value != value // 1):
            raise BadInput(f"{said}; it must be a {'whole number' if whole else 'number'}")
        try:
            number = float(value)
        except OverflowError:  # of an integer with hundreds of digits
            number = math.inf
        if not math.isfinite(number):
            raise BadInput(f"{said}; it must be a finite number")
        if number not in self.range:
            raise BadInput(f"{said}; it must be {self.range}")
        return self.item(value)

    def _word(self, name: str, value: Any) -> str:
        if not isinstance(value, str) or not value:
            objects = "; objects go to train(…, algorithm=…, env=…)" if self.extensible else ""
            raise BadInput(f"{name} is {value!r}; it must be a name{objects}")
        own = self.extensible and (is_custom(value) or parse(value) is not None)
        if self.words and value not in self.words and not own:
            known = f"{', '.join(self.words)}{', nor ' + OWN if self.extensible else ''}"
            raise BadInput(f"{name} {value!r} is none of {known}{nearest(value, self.words)}")
        return spelled(value)


@functools.cache
def kinds(cls: type) -> dict[str, Kind]:
    """The kind of each field of a dataclass."""
    return {
        name: _kind(hint) for name, hint in typing.get_type_hints(cls, include_extras=True).items()
    }


def _kind(hint: Any) -> Kind:
    marks = ()
    if typing.get_origin(hint) is typing.Annotated:
        hint, *marks = typing.get_args(hint)
    several = typing.get_origin(hint) is tuple
    item = typing.get_args(hint)[0] if several else hint
    is_union = typing.get_origin(item) in (typing.Union, types.UnionType)
    union = typing.get_args(item) if is_union else (item,)
    words = next((typing.get_args(each) for each in union if _is_literal(each)), ())
    return Kind(
        item=str if words else item,
        several=several,
        words=words,
        extensible=str in union,
        range=next((mark for mark in marks if isinstance(mark, Range)), Range(-math.inf)),
        conditions=tuple(mark for mark in marks if isinstance(mark, OnlyWith)),
    )


def _is_literal(hint: Any) -> bool:
    return typing.get_origin(hint) is Literal


def _listed(words: tuple[str, ...]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last
