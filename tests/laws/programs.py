"""Algorithms whose steps are compiled on their own: those that differ in their objective alone share one program."""

import functools
from dataclasses import dataclass, replace
from typing import Any

import jax

from shapo.algorithms import Cpo


@functools.cache
def program(rule):
    return jax.jit(rule.update)


@dataclass(frozen=True)
class Compiled:
    """A step, or CPO, that is compiled once for all who use it."""

    rule: Any

    def init(self, params):
        return self.rule.init(params)

    def update(self, *arguments):
        return program(self.rule)(*arguments)


def compiled(algorithm):
    if isinstance(algorithm, Cpo):
        return Compiled(algorithm)
    return replace(algorithm, step=Compiled(algorithm.step))
