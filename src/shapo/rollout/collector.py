"""One process's share of a batch: environments, a policy, and the loop in which most of the acting time is spent."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from shapo.envs.protocol import BatchEnv
from shapo.rollout.acting import Actor, Forward
from shapo.rollout.actions import Actions, actions_of
from shapo.rollout.contract import check_first, check_kept, check_step
from shapo.types import Batch, Episodes
from shapo.words import BadInput


class NotFinite(ValueError):
    """An environment returned NaN or infinity."""

    def __init__(self, what: str, env: int):
        super().__init__(what)
        self.env = env
        """Which of the collector's environments."""


class Running(NamedTuple):
    """The episodes under way, one entry per environment."""

    returns: NDArray[np.float64]
    costs: NDArray[np.float64]
    """[n, C]"""
    length: NDArray[np.int64]


def action_noise(
    actions: Actions, actor: Actor, seed: int, iteration: int, envs: range, steps: int
) -> NDArray[np.float32]:
    """What makes actions random [steps, envs, outputs], by nothing but a policy, seed, iteration and environment.

    So there is no generator to save, and the way environments are dealt to workers does not matter.
    """
    noise = np.empty((steps, len(envs), len(actor.biases[-1])), np.float32)
    for column, env in enumerate(envs):
        key = np.array([seed % 2**64, (iteration << 32) + env], np.uint64)
        generator = np.random.Generator(np.random.Philox(key=key))
        noise[:, column] = actions.noise(actor, generator, steps)
    return noise


class Collector:
    """A batch of environments and the episodes under way in them."""

    def __init__(self, env: BatchEnv, seed: int, first: int):
        """`first` is the number of this collector's first environment within the whole experiment."""
        self._env = env
        self._seed = seed
        self._indices = range(first, first + env.num_envs)
        self.observation_size = _size_of(env.observation_space, env.id)
        self._actions = actions_of(env.action_space, env.id)
        self._obs = np.empty(0)
        self._running = self._no_episodes()

    def reset(self, seed: int) -> None:
        """Begin new episodes everywhere; environment i of this collector gets `seed + i`."""
        self._obs = self._env.reset(seed)
        self._running = self._no_episodes()

    def collect(
        self, actor: Actor, iteration: int, rows: Batch, alive: Callable[[], None]
    ) -> Episodes:
        """Fill `rows` (this collector's columns of the batch) and tell which episodes ended."""
        env, actions, obs = self._env, self._actions, self._obs
        forward = Forward(actor, env.num_envs, self._indices.start)
        noise = action_noise(actions, actor, self._seed, iteration, self._indices, len(rows.action))
        paid = np.empty(rows.reward.shape)
        cost_shape = rows.cost.shape[1:]
        check_first(env, obs)
        try:
            for t, (at, to, action, reward, cost, terminated, truncated) in enumerate(
                zip(*rows, strict=True)
            ):
                at[:] = obs
                actions.choose(forward(at), noise[t], action)
                step = env.step(actions.apply(action))
                if t == 0:
                    check_step(env, step)
                obs = step.obs
                to[:] = step.last_obs
                reward[:] = step.reward
                cost[:] = step.cost.reshape(cost_shape)
                terminated[:] = step.terminated
                truncated[:] = step.truncated
                paid[t] = step.reward if step.task_reward is None else step.task_reward
                alive()
        except Exception:
            # NaN observations become NaN actions, and then the environment blames the action.
            _check_finite("observation", rows.obs[: t + 1])
            raise
        _check_finite("observation", rows.next_obs)
        _check_finite("reward", rows.reward)
        _check_finite("cost", rows.cost)
        np.logical_and(rows.truncated, ~rows.terminated, out=rows.truncated)
        self._obs = obs
        return self._finished(rows, paid)

    def get_state(self) -> dict[str, NDArray]:
        """All that decides the future, as arrays whose first axis is the environment."""
        running = {f"running/{name}": value for name, value in self._running._asdict().items()}
        state = self._env.get_state()
        for name, value in state.items():
            check_kept(self._env, name, value)
        return {f"env/{name}": value for name, value in state.items()} | running

    def set_state(self, state: Mapping[str, NDArray]) -> None:
        """Continue from `get_state()`'s answer."""
        inner = {
            name.removeprefix("env/"): v for name, v in state.items() if name.startswith("env/")
        }
        self._obs = self._env.set_state(inner)
        self._running = Running(*(state[f"running/{name}"].copy() for name in Running._fields))

    def _no_episodes(self) -> Running:
        n, costs = self._env.num_envs, self._env.num_costs
        return Running(np.zeros(n), np.zeros((n, costs)), np.zeros(n, np.int64))

    def _finished(self, rows: Batch, paid: NDArray) -> Episodes:
        found = []
        ended = rows.terminated | rows.truncated
        for i in range(self._env.num_envs):
            begin = 0
            for end in np.flatnonzero(ended[:, i]) + 1:
                self._advance(i, paid[begin:end, i], rows.cost[begin:end, i])
                r = self._running
                found.append((
                    self._indices[i], end - 1, r.returns[i], r.costs[i].copy(), r.length[i],
                    rows.terminated[end - 1, i],
                ))  # fmt: skip
                r.returns[i], r.costs[i], r.length[i] = 0.0, 0.0, 0
                begin = end
            self._advance(i, paid[begin:, i], rows.cost[begin:, i])
        return episodes_of(found, self._env.num_costs)

    def _advance(self, i: int, paid: NDArray, cost: NDArray) -> None:
        running = self._running
        running.returns[i] += paid.sum()
        running.costs[i] += cost.sum(axis=0, dtype=np.float64)
        running.length[i] += len(paid)


def episodes_of(found: list[tuple], costs: int) -> Episodes:
    """Finished episodes, given as tuples in the order of `Episodes`'s fields, in the order of (step, env)."""
    found.sort(key=lambda episode: (episode[1], episode[0]))
    env, step, returns, cost, length, terminated = zip(*found, strict=True) if found else [()] * 6
    return Episodes(
        np.array(env, np.int64),
        np.array(step, np.int64),
        np.array(returns, np.float64),
        np.array(cost, np.float64).reshape(-1, costs),
        np.array(length, np.int64),
        np.array(terminated, np.bool_),
    )


def _size_of(space: gymnasium.Space, env: str) -> int:
    if isinstance(space, gymnasium.spaces.Box) and len(space.shape) == 1:
        return space.shape[0]
    raise BadInput(
        f"{env} has the observation space {space}; training needs a one-dimensional Box of numbers"
    )


def _check_finite(name: str, values: NDArray) -> None:
    if not np.isfinite(values).all():
        place = tuple(np.argwhere(~np.isfinite(values))[0])
        step, env = place[:2]
        raise NotFinite(f"returned the {name} {values[place]} at step {step} of a batch", int(env))
