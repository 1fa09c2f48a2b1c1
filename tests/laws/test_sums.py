"""No recipe has a sum over rows that XLA could cut as the processor's caches are: all of them are cut already."""

import itertools
import math
import typing

import jax
import pytest
from jax.extend.core import ClosedJaxpr, Jaxpr
from problems import ACT, policy, progress, samples

from shapo.experiment import Algo, Experiment, GradientRule
from shapo.learning import recipes
from shapo.rules.products import PIECE

ROWS = 20_000
EXPERIMENT = Experiment(cost_limit=(1.0,), pessimism=1e-3)


def dots(program):
    """Every product of matrices in a program, however deep it lies."""
    for equation in program.eqns:
        if equation.primitive.name == "dot_general":
            yield equation
        for inner in jax.tree.leaves(
            list(equation.params.values()), is_leaf=lambda x: isinstance(x, (Jaxpr, ClosedJaxpr))
        ):
            if isinstance(inner, ClosedJaxpr):
                yield from dots(inner.jaxpr)
            elif isinstance(inner, Jaxpr):
                yield from dots(inner)


def added_up(dot):
    """How many products one number of the result is the sum of; of two vectors XLA makes a loop of its own."""
    (left, _), _ = dot.params["dimension_numbers"]
    shapes = [operand.aval.shape for operand in dot.invars]
    return (
        0
        if all(len(shape) == 1 for shape in shapes)
        else math.prod(shapes[0][axis] for axis in left)
    )


# What the plain rule does, the others do, too.
CASES = [*itertools.product(typing.get_args(Algo), set(typing.get_args(GradientRule)) - {"plain"})]


@pytest.mark.parametrize(("algo", "rule"), sorted(CASES))
def test_sums_over_rows_are_cut(algo, rule):
    params, rows = policy(hidden=(16,)), samples(policy(hidden=(16,)), rows=ROWS)
    algorithm = recipes.algorithm(EXPERIMENT.replace(algo=algo, gradient=rule), ACT)
    update = lambda params, rows, key: algorithm.update(
        params, algorithm.init(params), rows, progress((2.0,)), key
    )
    program = jax.make_jaxpr(update)(params, rows, jax.random.PRNGKey(0))
    found = [added_up(dot) for dot in dots(program.jaxpr)]
    assert found and max(found) <= PIECE
