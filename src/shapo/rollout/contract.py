"""Whether a batch of environments returns what the contract says: one of somebody's own may not."""

import numpy as np
from numpy.typing import NDArray

from shapo.envs.protocol import BatchEnv, Step
from shapo.words import BadInput


class BreaksContract(BadInput):
    """A batch that returns something else than `BatchEnv` says."""


def check_first(env: BatchEnv, obs: NDArray) -> None:
    """BreaksContract unless these can be the observations that an episode begins with."""
    _check_shape(env, "the first observations", obs, (env.num_envs, *env.observation_space.shape))


def check_step(env: BatchEnv, step: Step) -> None:
    """BreaksContract unless all of a step has its shape; NumPy would spread what is smaller over all environments."""
    each = (env.num_envs,)
    seen = (*each, *env.observation_space.shape)
    several = env.num_costs > 1 or np.ndim(step.cost) > 1
    costs = (*each, env.num_costs) if several else each
    shapes = dict.fromkeys(Step._fields, each) | {"obs": seen, "last_obs": seen, "cost": costs}
    for name, values in step._asdict().items():
        if values is not None:
            _check_shape(env, f"step().{name}", values, shapes[name])


def check_kept(env: BatchEnv, name: str, value: object) -> None:
    """BreaksContract unless this part of a state can be written, and dealt to workers again."""
    what = type(value).__name__
    if isinstance(value, np.ndarray):
        what = f"{value.dtype}{value.shape}"
        numbers = value.dtype.kind in "biufc" and value.dtype.itemsize <= 8
        if numbers and value.shape[:1] == (env.num_envs,):
            return
    raise BreaksContract(
        f"{env.id}: get_state()[{name!r}] is {what}; it must be an array of numbers (of 8 bytes at most) "
        f"with a row for each of the {env.num_envs} environments"
    )


def _check_shape(env: BatchEnv, what: str, values: NDArray, shape: tuple[int, ...]) -> None:
    if np.shape(values) != shape:
        raise BreaksContract(
            f"{env.id}: {what} must have the shape {shape}, not {np.shape(values)}"
        )
