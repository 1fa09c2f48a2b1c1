"""Things and their names: there and back, and what has no name is never taken for one."""

import functools
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy_env

from shapo.envs.saute import Budget
from shapo.experiment.describing import described, name_of
from shapo.experiment.extensions import (
    IN_ALGO,
    Recorded,
    is_custom,
    load,
    make,
    parse,
    require_named,
    spelled,
)


@dataclass(frozen=True)
class Rule:
    radius: object
    trials: int = 3


class Outer:
    class Inner:
        pass


@pytest.mark.parametrize(
    "thing, name",
    [
        (toy_env.Toy, "toy_env:Toy"),
        (Outer.Inner, f"{__name__}:Outer.Inner"),
        (functools.partial(toy_env.Toy, horizon=5, fault="nan"), "toy_env:Toy(horizon=5, fault='nan')"),
        (Rule((1.0, 2)), f"{__name__}:Rule(radius=(1.0, 2), trials=3)"),
        (Budget((3.0,)), "shapo.envs.saute:Budget(budget=(3.0,), discount=0.999, unsafe_reward=-1.0)"),
    ],
)  # fmt: skip
def test_what_can_be_imported_has_a_name_that_leads_back(thing, name):
    assert name_of(thing) == name == spelled(name)
    found = load(name)
    if isinstance(thing, functools.partial):
        assert (found.func, found.keywords) == (thing.func, thing.keywords)
    else:
        assert (found() if parse(name).keywords else found) == thing


def local():
    return lambda: 3


@pytest.mark.parametrize(
    "thing",
    [
        local(),
        local,
        Rule(local()),
        functools.partial(toy_env.Toy, 3),
        Rule(float("inf")),
        Rule({"a", "b"}),
        type("Local", (), {}),
        object(),
    ],
)
def test_what_cannot_is_described_and_nothing_takes_that_for_a_name(thing, monkeypatch):
    monkeypatch.setattr(f"{__name__}.local", None)  # so that its name leads elsewhere
    name = name_of(thing)
    assert is_custom(name) and parse(name) is None
    assert "0x" not in name and name == name_of(thing)


def test_functions_are_told_apart_by_what_they_do_and_not_by_where_they_lie():
    def scaled(factor):
        return lambda progress: factor * progress

    def compared():
        return lambda x: x in {"a", "b", "c"}

    assert described(Rule(scaled(2))) == described(Rule(scaled(2)))
    assert described(Rule(scaled(2))) != described(Rule(scaled(3)))
    assert described(lambda x: x + 1) != described(lambda x: x - 1)
    assert described(compared()) == described(compared())
    assert described((scaled(2), 1)) == f"({described(scaled(2))}, 1)"


def test_functions_are_told_apart_by_what_they_were_given():
    def named_only(horizon):
        def maze(num_envs, *, horizon=horizon):
            return horizon

        return maze

    def around(given):
        return lambda num_envs: given

    def self_contained(depth):
        def descend(n=depth):
            return descend(n - 1)

        return descend

    walls = np.zeros(5000)
    moved = walls.copy()
    moved[2500] = 1
    for one, other in (
        (named_only(1), named_only(2)),
        (around(named_only(1)), around(named_only(2))),
        (around(partial(around, 1)), around(partial(around, 2))),
        (around(walls), around(moved)),
        (partial(around, walls), partial(around, moved)),
        (around({"walls": walls}), around({"walls": moved})),
        (around("a  b"), around("a b")),
        (self_contained(1), self_contained(2)),
    ):
        assert described(one) == described(one) != described(other)


def test_a_description_is_the_same_in_every_process():
    code = "from shapo.experiment.describing import described; print(described([{'a', 'b', 'c'}]))"
    said = [
        subprocess.check_output(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}
        )
        for seed in "123"
    ]
    assert set(said) == {b"({'a', 'b', 'c'})\n"}


@pytest.mark.parametrize(
    "text", ["Ant-v4", "shapo/Ant-v4", "m:Ant-v4", ":x", "x:", "custom: Rule in m", "a b:c"]
)
def test_other_names_are_left_alone(text):
    assert parse(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "m:f(3)", "m:f(x=g())", "m:f(x=1", "m:f(**{})", "m:f(x=1)(y=2)", "m:f(x=y)", "m:f(x={[1]: 2})",
        "m:f(x=({'a', 'b'}, 1))", f"m:f(x={'-' * 100_000}1)", f"m:f(x=1{'+1' * 100_000})",
    ],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_only_literals_may_stand_in_brackets(text):
    with pytest.raises(ValueError, match=r"m:f.*only key=value may stand"):
        parse(text)


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("nowhere:Maze", "nowhere:Maze: cannot import nowhere"),
        ("toy_env:Maze", "toy_env:Maze: there is no Maze in toy_env"),
        ("toy_env:Toi", r"there is no Toi in toy_env; did you mean Toy\?"),
        (
            "toy_env:Toy.id",
            "toy_env:Toy.id: Toy.id cannot be called: it is no function or class, but str",
        ),
        ("Maze", "Maze: write it as module:factory"),
        (Recorded("toy_env:Toy"), "toy_env:Toy is named by a file only"),
    ],
)
def test_a_name_that_leads_nowhere_is_said_to(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        load(text)


def test_a_factory_is_given_what_it_asks_for():
    assert make(f"{__name__}:Rule(radius=1)", trials=5, gradient="not asked for") == Rule(1, 5)
    assert make(f"{__name__}:Rule( radius = 1,)") == Rule(1)
    with pytest.raises(ValueError, match=r"Rule: missing a required argument: 'radius'"):
        make(f"{__name__}:Rule")
    with pytest.raises(ValueError, match=r"Rule\(radius=1, size=3\): got an unexpected keyword"):
        make(f"{__name__}:Rule(radius=1, size=3)")
    with pytest.raises(ValueError, match=r"trials is the experiment's own choice; .*--trials"):
        make(f"{__name__}:Rule(radius=1, trials=2)", trials=5)


@pytest.mark.parametrize("module", [np, jnp])
def test_what_a_large_array_holds_is_in_its_description(module):
    """What is printed of it leaves out the middle."""

    def looked_up(middle):
        table = module.asarray(np.where(np.arange(2001) == 1000, middle, 0.0))
        return lambda progress: table[0]

    assert name_of(looked_up(1.0)) == name_of(looked_up(1.0)) != name_of(looked_up(2.0))
    key = jax.random.key(0)  # an array, but not of numbers
    assert described(key) == described(jax.random.key(0)) != described(jax.random.key(1))


def test_one_name_is_written_in_one_way():
    assert spelled("m:f( a = 1,b='x' )") == spelled('m:f(a=1, b="x")') == "m:f(a=1, b='x')"
    assert spelled("m:f()") == "m:f" and spelled("Ant-v4") == "Ant-v4"
    assert isinstance(spelled(Recorded("m:f()")), Recorded)


def test_what_only_a_file_names_is_not_trusted():
    require_named({"gradient": "m:Rule", "env": Recorded("Ant-v4"), "algo": Recorded(IN_ALGO)})
    with pytest.raises(ValueError, match="uses m:Rule; add --critic-gradient m:Rule to say that"):
        require_named({"critic_gradient": Recorded("m:Rule")})
    with pytest.raises(ValueError, match=r"add --algo 'm:f\(x=1\)' to say"):
        require_named({"algo": Recorded("m:f(x=1)")})
    with pytest.raises(ValueError, match="add --env m:Their-v0"):  # Gymnasium would import m
        require_named({"env": Recorded("m:Their-v0")})
