"""What parent and worker say to each other. Each request is answered by one reply, or by `Failed`."""

from typing import NamedTuple

from numpy.typing import NDArray

from shapo.rollout.acting import Actor
from shapo.rollout.actions import Actions
from shapo.rollout.sharing import Shape
from shapo.types import Episodes

State = dict[str, NDArray]


class Hello(NamedTuple):
    """Parent → worker, first: who you are. Answered by `Spec`."""

    env: str
    blueprint: bytes
    """A `Blueprint`, pickled by value so that a user's own environment needs no importable module."""
    import_path: list[str]
    index: int
    """Which worker."""
    envs: range
    """Which environments."""
    seed: int
    """The experiment's."""


class Spec(NamedTuple):
    """Worker → parent: what the environments are like."""

    env: str
    observation: int
    actions: Actions
    costs: int
    notes: tuple[str, ...]
    """What whoever trains on them should know."""


class Wrap(NamedTuple):
    """Parent → worker: change your environments to what the algorithm wants. Answered by another `Spec`."""

    wrapper: bytes
    """A `Wrapper`, pickled by value."""


class Allocate(NamedTuple):
    """Parent → worker: map the shared memory, now that its size is known. Not answered."""

    shape: Shape


class Reset(NamedTuple):
    """Parent → worker: begin the training's episodes. Answered by `Ready`."""


class Restore(NamedTuple):
    """Parent → worker: continue from a state. Answered by `Ready`."""

    state: State


class Ready(NamedTuple):
    """Worker → parent: the environments stand where they should, and the next request is read as it comes."""


class Collect(NamedTuple):
    """Parent → worker: fill your columns of a batch. Answered by `Collected`."""

    actor: Actor
    iteration: int
    slot: int


class Collected(NamedTuple):
    """Worker → parent: done, and where things stand now."""

    episodes: Episodes
    state: State


class Failed(NamedTuple):
    """Worker → parent: one line saying what went wrong; the worker is gone."""

    reason: str
    bad_input: bool
    """The experiment cannot work at all, as opposed to an environment that broke on the way."""


Request = Wrap | Allocate | Reset | Restore | Collect
