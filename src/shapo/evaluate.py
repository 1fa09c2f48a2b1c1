"""Measuring a trained policy: whole episodes from seeds that training never saw."""

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.envs.protocol import BatchEnv, Wrapper
from shapo.experiment.extensions import is_custom, parse, resolve
from shapo.rollout.task import EnvFactory, Task
from shapo.runs.folder import Run
from shapo.runs.policies import Policy

SEEDS = 4_000_000_000
"""Evaluation draws its environment seeds from here on, above those of training and warm-up."""
SIDE_BY_SIDE = 20


class Evaluation(NamedTuple):
    """What a policy achieved, episode by episode."""

    returns: NDArray[np.float64]
    """[episodes]"""
    costs: NDArray[np.float64]
    """[episodes, C]"""
    length: NDArray[np.int64]
    """[episodes]"""
    terminated: NDArray[np.bool_]
    """[episodes]"""

    def summary(self) -> dict[str, float]:
        """Means with their standard errors, and the tail of the cost."""
        costs = self.costs.sum(axis=1)
        return {
            "episodes": len(self.returns),
            "return": float(self.returns.mean()),
            "return_error": _standard_error(self.returns),
            "cost": float(costs.mean()),
            "cost_error": _standard_error(costs),
            "cost_p80": float(np.percentile(costs, 80)),
            "cost_p95": float(np.percentile(costs, 95)),
            "cost_rate": float(costs.sum() / self.length.sum()),
            "length": float(self.length.mean()),
            "terminated": float(self.terminated.mean()),
        }


def task_of(run: Run, env: EnvFactory | None = None) -> Task:
    """The environment in which a run was trained, as its algorithm wanted it; `env` if that was a Python object."""
    if env is None and is_custom(run.experiment.env):
        raise ValueError(
            f"{run.folder} was trained on a Python object, {run.experiment.env}: evaluate it in Python, "
            "with shapo.evaluate.task_of(run, env=…)"
        )
    return Task(run.experiment, env, _wrapper(run.policy))


def _wrapper(policy: Policy) -> Wrapper | None:
    if not policy.wrapper:
        return None
    name = parse(policy.wrapper)
    if name is None or name.module.partition(".")[0] != "shapo":
        raise ValueError(
            f"the policy for {policy.env} acts in an environment changed by {policy.wrapper}: evaluate it in Python, "
            "with an environment of that kind"
        )
    return resolve(name)(**name.keywords)


def evaluate(
    policy: Policy,
    build: Callable[[int, int], BatchEnv],
    episodes: int = 20,
    seed: int = 0,
    stochastic: bool = False,
) -> Evaluation:
    """Let `policy` play `episodes` episodes in environments made by `build(num_envs, seed)`.

    Each of several environments plays its own share and no more: to take whichever episodes end first would favour
    short ones.
    """
    if episodes < 1:
        raise ValueError(f"episodes is {episodes}; at least one is needed")
    num_envs = min(episodes, SIDE_BY_SIDE)
    left = np.array([len(share) for share in np.array_split(np.arange(episodes), num_envs)])
    env = build(num_envs, SEEDS + seed)
    rng = np.random.default_rng(seed) if stochastic else None
    finished = []
    returns, costs, length = (
        np.zeros(num_envs),
        np.zeros((num_envs, env.num_costs)),
        np.zeros(num_envs, int),
    )
    obs = env.reset(SEEDS + seed)
    while left.any():
        step = env.step(policy.act(obs, rng))
        obs = step.obs
        returns += step.reward if step.task_reward is None else step.task_reward
        costs += step.cost.reshape(num_envs, -1)
        length += 1
        for i in np.flatnonzero(step.terminated | step.truncated):
            if left[i]:
                finished.append((returns[i], costs[i].copy(), length[i], step.terminated[i]))
                left[i] -= 1
            returns[i], costs[i], length[i] = 0.0, 0.0, 0
    env.close()
    return Evaluation._make(map(np.array, zip(*finished, strict=True)))


def film(
    policy: Policy,
    env: BatchEnv,
    seed: int = 0,
    stochastic: bool = False,
    size: int = 480,
    every: int = 1,
) -> Iterator[NDArray[np.uint8]]:
    """One episode of the first environment of `env`, a frame before every so many steps."""
    rng = np.random.default_rng(seed) if stochastic else None
    obs = env.reset(SEEDS + seed)
    for number in itertools.count():
        if number % every == 0:
            yield env.render(0, size, size)
        step = env.step(policy.act(obs, rng))
        obs = step.obs
        if step.terminated[0] or step.truncated[0]:
            return


def _standard_error(values: NDArray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
