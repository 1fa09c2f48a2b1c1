"""Measuring a trained policy: whole episodes from seeds that training never saw."""

import contextlib
import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.envs.protocol import BatchEnv, Wrapper
from shapo.envs.simmer import SimmeringBudget
from shapo.experiment.extensions import CUSTOM, is_custom, make, parse, require_named
from shapo.rollout.blueprint import Blueprint, EnvFactory
from shapo.runs.folder import Run
from shapo.runs.policies import TrainedPolicy
from shapo.words import BadInput

EVALUATION_SEEDS_FROM = 4_000_000_000
"""Evaluation draws its environment seeds from here on, above those of training."""
STRIDE = 1000
"""So many environment seeds belong to each seed of an evaluation: no two evaluations share one."""
LAST_SEED = (2**32 - EVALUATION_SEEDS_FROM) // STRIDE - 1
"""Environments take seeds of 32 bits."""
SIDE_BY_SIDE = 20
"""So many environments at most, each of which plays its share of the episodes."""
WRAPPERS = ("shapo.envs.saute:Budget", "shapo.envs.simmer:SimmeringBudget")
"""What a policy file may name and have called; it may come from anywhere."""
MAX_STEPS = 10_000
"""An episode that is still going on after so many steps is cut."""


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
    cut: NDArray[np.bool_]
    """[episodes] Still going on when they were cut: their environment knows no end."""

    def summary(self) -> dict[str, float]:
        """Means with their standard errors, and the tail of the cost.

        `cost`, `cost_error`, `cost_p80`, `cost_p95` and `cost_rate` are of all cost signals added up. Where there are
        several, `cost_1`, `cost_1_error` and so on are of the first alone, `cost_2` of the second.
        """
        signals = self.costs.T if self.costs.shape[1] > 1 else ()
        costs = self._of_cost("cost", self.costs.sum(axis=1))
        for number, signal in enumerate(signals, start=1):
            costs |= self._of_cost(f"cost_{number}", signal)
        return {
            "episodes": len(self.returns),
            "return": float(self.returns.mean()),
            "return_error": _standard_error(self.returns),
            **costs,
            "length": float(self.length.mean()),
            "terminated": float(self.terminated.mean()),
            "cut": int(self.cut.sum()),
        }

    def _of_cost(self, name: str, costs: NDArray[np.float64]) -> dict[str, float]:
        return {
            name: float(costs.mean()),
            f"{name}_error": _standard_error(costs),
            f"{name}_p80": float(np.percentile(costs, 80)),
            f"{name}_p95": float(np.percentile(costs, 95)),
            f"{name}_rate": float(costs.sum() / self.length.sum()),
        }


def blueprint_of(
    run: Run, env: EnvFactory | str | None = None, cost: str | None = None
) -> Blueprint:
    """The environment in which a run was trained, as its algorithm wanted it; or another, by name or as an object.

    A folder may come from anywhere: what it calls `module:factory` is used only if the user gives the same name.
    """
    named = {"env": env if isinstance(env, str) else None, "cost": cost}
    experiment = dataclasses.replace(
        run.experiment, **{key: name for key, name in named.items() if name}
    )
    if env is None and is_custom(experiment.env):
        raise BadInput(
            f"{run.folder} was trained on a Python object, {experiment.env.removeprefix(CUSTOM)}: name an environment "
            "with --env, or pass the object in Python, shapo.evaluate.blueprint_of(run, env)"
        )
    used = ("cost",) if callable(env) else ("env", "cost")
    require_named({name: getattr(experiment, name) for name in used})
    return Blueprint(experiment, env if callable(env) else None, _wrapper(run.policy))


def _wrapper(policy: TrainedPolicy) -> Wrapper | None:
    if not policy.wrapper:
        return None
    name = parse(policy.wrapper)
    if name is None or f"{name.module}:{name.path}" not in WRAPPERS:
        raise BadInput(
            f"the policy for {policy.env} acts in an environment changed by {policy.wrapper}: evaluate it in Python, "
            "with an environment of that kind"
        )
    made = make(str(name))
    return made.settled() if isinstance(made, SimmeringBudget) else made


def evaluate(
    policy: TrainedPolicy | Run,
    build: Callable[[int, int], BatchEnv] | None = None,
    episodes: int = 20,
    seed: int = 0,
    stochastic: bool = False,
    max_steps: int = MAX_STEPS,
) -> Evaluation:
    """Let `policy` play `episodes` episodes in environments made by `build(num_envs, seed)`.

    Of a `Run` it is the run's policy, in the environment that it was trained in. `first_seed(seed)` is where the
    environments' seeds begin. The answer's `summary()` has means, standard errors and the tail of the cost.

    Each of several environments plays its own share and no more: to take whichever episodes end first would favour
    short ones. An environment whose episode is cut after `max_steps` plays no other, for it could not begin one.
    """
    if episodes < 1:
        raise BadInput(f"episodes is {episodes}; at least one is needed")
    if isinstance(policy, Run):
        build, policy = build or blueprint_of(policy).build, policy.policy
    if build is None:
        raise BadInput("evaluate needs an environment: pass build, or a Run instead of its policy")
    num_envs = min(episodes, SIDE_BY_SIDE)
    with contextlib.closing(build(num_envs, first_seed(seed))) as env:
        return _played(policy, env, episodes, seed, stochastic, max_steps)


def _played(
    policy: TrainedPolicy, env: BatchEnv, episodes: int, seed: int, stochastic: bool, max_steps: int
) -> Evaluation:
    num_envs = env.num_envs
    left = np.array([len(share) for share in np.array_split(np.arange(episodes), num_envs)])
    rng = np.random.default_rng(seed) if stochastic else None
    finished = []
    returns, costs, length = (
        np.zeros(num_envs),
        np.zeros((num_envs, env.num_costs)),
        np.zeros(num_envs, int),
    )
    obs = env.reset(first_seed(seed))
    while left.any():
        step = env.step(policy.act(obs, rng))
        obs = step.obs
        returns += step.reward if step.task_reward is None else step.task_reward
        costs += step.cost.reshape(num_envs, -1)
        length += 1
        ended = step.terminated | step.truncated
        for i in np.flatnonzero(ended | (length >= max_steps)):
            if left[i]:
                outcome = returns[i], costs[i].copy(), length[i], step.terminated[i]
                finished.append((*outcome, not ended[i]))
                left[i] = left[i] - 1 if ended[i] else 0
            returns[i], costs[i], length[i] = 0.0, 0.0, 0
    return Evaluation._make(map(np.array, zip(*finished, strict=True)))


def first_seed(seed: int) -> int:
    """Where the environment seeds of an evaluation begin."""
    if not 0 <= seed <= LAST_SEED:
        raise BadInput(f"seed is {seed}; an evaluation's seed is between 0 and {LAST_SEED:,}")
    return EVALUATION_SEEDS_FROM + STRIDE * seed


def _standard_error(values: NDArray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
