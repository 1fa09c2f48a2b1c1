"""From an id, or a factory of yours, to a batch of environments."""

import difflib
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium

from shapo.envs import locomotion, navigation
from shapo.envs.closing import closed_if_refused
from shapo.envs.gymnasium_in import FromGymnasium
from shapo.envs.locomotion.tasks import HORIZON
from shapo.envs.protocol import BatchEnv
from shapo.experiment import names
from shapo.experiment.describing import PASS_WHAT_MAKES_IT
from shapo.words import BadInput

IDS = tuple(names.IDS)
"""Every environment of ours."""
HORIZONS = {id: task.horizon for id, task in navigation.TASKS.items()} | dict.fromkeys(
    locomotion.TASKS, HORIZON
)
"""Steps that an episode of each takes at most."""


class UnknownEnvironment(BadInput):
    """An id that neither we nor Gymnasium know; the message says which known one is nearest."""


def make(id: str | Callable[..., Any], num_envs: int, seed: int = 0, **options: Any) -> BatchEnv:
    """A batch of environments, reset with `seed`: environment i draws from `seed + i`.

    `id` is one of `IDS`, OpenAI's name of one (`PointGoal1-v0`), any Gymnasium id, or a factory:
    either a function with an argument `num_envs` that returns a `BatchEnv`, or one that returns a
    single Gymnasium environment. `options` go to the environment; a Gymnasium one also takes `cost`,
    a function of (observation, action, info).
    """
    if num_envs < 1:
        raise BadInput(f"num_envs must be at least 1, got {num_envs}")
    if callable(id):
        return _from_factory(id, num_envs, seed, options)
    if not isinstance(id, str):
        raise BadInput(f"this {type(id).__name__} is made already; {PASS_WHAT_MAKES_IT}")
    id = canonical(id)
    if id in navigation.TASKS:
        return navigation.make(id, num_envs, seed, **options)
    if id in locomotion.TASKS:
        # Imported here so that names, or the other family, do not load this one's physics.
        from shapo.envs.locomotion.env import Locomotion

        return Locomotion(id, num_envs, seed, **options)
    cost = options.pop("cost", None)
    return FromGymnasium(partial(gymnasium.make, id, **options), num_envs, seed, cost, id)


def takes_cost(id: str | Callable[..., Any]) -> bool:
    """Whether `make` accepts an option `cost` for `id`: not for our own tasks, nor where a factory makes the batch."""
    return not _makes_batches(id) if callable(id) else canonical(id) not in IDS


def to_draw(id: str | Callable[..., Any]) -> dict[str, Any]:
    """Options for `make` with which an environment can be drawn: Gymnasium's own want to know when they are made."""
    if callable(id) or canonical(id) in IDS:
        return {}
    env = gymnasium.make(id)
    modes = env.metadata.get("render_modes", [])
    env.close()
    return {"render_mode": "rgb_array"} if "rgb_array" in modes else {}


def canonical(id: str) -> str:
    """The one name of an environment that may have several; UnknownEnvironment if it has none."""
    name = names.canonical(id)
    # A colon means "import this module first, it registers the environment": Gymnasium's business.
    if name in IDS or ":" in id or id in gymnasium.registry:
        return name
    where = "`shapo envs` lists them; your own is module:factory"
    raise UnknownEnvironment(f"unknown environment {id!r}{_nearest(id)} ({where})")


def _nearest(id: str) -> str:
    theirs = [name for name in gymnasium.registry if not name.startswith("shapo/")]
    unversioned = lambda name: name.lower().rpartition("-v")[0] or name.lower()
    known = {unversioned(name): name for name in (*theirs, *IDS)}
    found = difflib.get_close_matches(unversioned(id), known, n=1, cutoff=0.7)
    return f": did you mean {known[found[0]]}?" if found else ""


def _from_factory(
    factory: Callable[..., Any], num_envs: int, seed: int, options: dict[str, Any]
) -> BatchEnv:
    if _makes_batches(factory):
        env = factory(num_envs=num_envs, **options)
        if not isinstance(env, BatchEnv):
            members = (name for name in vars(BatchEnv) if not name.startswith("_"))
            lacks = ", ".join(name for name in members if not hasattr(env, name))
            raise BadInput(
                f"{_name(factory)} takes num_envs but returned a {type(env).__name__}, "
                f"which is no shapo.envs.BatchEnv: it lacks {lacks}"
            )
        with closed_if_refused(env):
            if env.num_envs != num_envs:
                raise BadInput(
                    f"{_name(factory)} was asked for num_envs={num_envs} and returned {env.num_envs}; "
                    "return as many, for each worker asks for its own share"
                )
            env.reset(seed)
        return env
    cost = options.pop("cost", None)
    _require_enough(factory, options)
    return FromGymnasium(partial(factory, **options), num_envs, seed, cost, _name(factory))


def _makes_batches(factory: Callable[..., Any]) -> bool:
    return "num_envs" in _signature(factory).parameters


def _require_enough(factory: Callable[..., Any], options: dict[str, Any]) -> None:
    try:
        _signature(factory).bind(**options)
    except TypeError as error:
        name = _name(factory)
        raise BadInput(
            f"{name}: {error}; pass functools.partial({name}, key=value), or name it module:{name}(key=value)"
        ) from None


def _signature(factory: Callable[..., Any]) -> inspect.Signature:
    """What it takes; whatever it likes, where Python does not know (classes that are written in C)."""
    try:
        return inspect.signature(factory)
    except ValueError:
        anything = inspect.Parameter("options", inspect.Parameter.VAR_KEYWORD)
        return inspect.Signature([anything])


def _name(factory: Callable[..., Any]) -> str:
    factory = factory.func if isinstance(factory, partial) else factory
    return getattr(factory, "__name__", type(factory).__name__)
