"""Any Gymnasium environment on our contract, and any that returns Safety-Gymnasium's six values.

Every episode begins with an explicit seed that depends only on the environment's seed and the episode's number. So the
state of any deterministic environment is short and needs no serialised object: which episode, and the actions taken in
it so far.
"""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces.utils import flatten
from numpy.typing import ArrayLike, NDArray

from shapo.envs.checks import checked_action, checked_state
from shapo.envs.closing import closed_if_refused
from shapo.envs.costs import CostFunction, own
from shapo.envs.heartbeat import alive
from shapo.envs.protocol import Step
from shapo.envs.singles import begun, make_each, name_of, stepped, time_limit
from shapo.envs.vectors import action_vectors, native_action, observation_vectors
from shapo.words import BadInput, counted


class CannotReplay(BadInput):
    """An environment that does something else when its seed and actions are the same."""


LONGEST = 100_000
"""Steps after which an episode that its environment does not bound is refused: every action of it is kept."""


def episode_seed(seed: int, episode: int) -> int:
    """What an environment seeded with `seed` begins an episode with; the first one, `seed` itself."""
    if episode == 0:
        return seed
    return int(np.random.SeedSequence(seed, spawn_key=(episode,)).generate_state(1)[0])


class FromGymnasium:
    """`num_envs` Gymnasium environments stepped one after the other."""

    def __init__(
        self,
        factory: Callable[[], gymnasium.Env],
        num_envs: int,
        seed: int = 0,
        cost: CostFunction | None = None,
        id: str | None = None,
    ) -> None:
        self.num_envs = num_envs
        self._envs: list[gymnasium.Env] = []
        with closed_if_refused(self):
            make_each(factory, num_envs, id, self._envs)
            first = self._envs[0]
            self.id = id or name_of(first)
            self.horizon = time_limit(first)
            self._native_space = first.observation_space
            self.observation_space: gymnasium.spaces.Box[Any] = observation_vectors(
                self.id, first.observation_space
            )
            self.action_space = action_vectors(self.id, first.action_space)
            self._cost = cost or own(self.id)
            self.num_costs = self._count_costs()
            self._seeds = np.zeros(num_envs, np.int64)
            self._episode = np.zeros(num_envs, np.int64)
            self._actions: list[list[NDArray]] = [[] for _ in range(num_envs)]
            self._earned = np.zeros(num_envs)
            self._obs = np.empty((num_envs, *self.observation_space.shape))
            self.reset(seed)

    def reset(self, seed: int | None) -> NDArray[np.float64]:
        """Begin new episodes, environment i's first one as Gymnasium's `reset(seed=seed + i)`; None: its next one."""
        if seed is None:
            self._episode += 1
        else:
            self._seeds = seed + np.arange(self.num_envs)
            self._episode[:] = 0
        self._obs = np.stack([self._begin(i) for i in range(self.num_envs)])
        return self._obs.copy()

    def step(self, action: NDArray) -> Step:
        """Step each environment; actions beyond a Box's bounds are clipped to them."""
        action = checked_action(self.id, self.num_envs, self.action_space, action)
        last_obs = np.empty((self.num_envs, *self.observation_space.shape))
        reward = np.empty(self.num_envs)
        cost = np.empty((self.num_envs, self.num_costs))
        terminated, truncated = np.zeros((2, self.num_envs), bool)
        for i, env in enumerate(self._envs):
            native = native_action(env.action_space, action[i])
            obs, reward[i], terminated[i], truncated[i], info = stepped(self.id, env.step(native))
            last_obs[i] = self._flat(obs)
            cost[i] = self._as_many(self._cost(obs, native, info))
            self._actions[i].append(action[i].copy())
            self._earned[i] += reward[i]
        if self.horizon is None and max(map(len, self._actions)) > LONGEST:
            raise BadInput(
                f"{self.id}: an episode has gone on for {LONGEST:,} steps, and all its actions are kept to resume it; "
                "give it an end: gymnasium.wrappers.TimeLimit(env, max_episode_steps=1000)"
            )
        obs = last_obs.copy()
        for i in np.flatnonzero(terminated | truncated):
            self._episode[i] += 1
            obs[i] = self._begin(int(i))
        self._obs = obs.copy()
        cost = cost[:, 0] if self.num_costs == 1 else cost
        return Step(obs, reward, cost, terminated, truncated, last_obs)

    def get_state(self) -> dict[str, NDArray]:
        """Seeds, episode numbers, the actions of the current episodes, padded to the longest, and what they led to."""
        lengths = np.array([len(taken) for taken in self._actions])
        discrete = isinstance(self.action_space, gymnasium.spaces.Discrete)
        actions = np.zeros(
            (self.num_envs, lengths.max(), *(self.action_space.shape or ())),
            np.int64 if discrete else np.float64,
        )
        for row, taken in zip(actions, self._actions, strict=True):
            if taken:
                row[: len(taken)] = taken
        return {
            "seed": self._seeds.copy(),
            "episode": self._episode.copy(),
            "length": lengths,
            "actions": actions,
            "obs": self._obs.copy(),
            "earned": self._earned.copy(),
        }

    def set_state(self, state: Mapping[str, NDArray]) -> NDArray[np.float64]:
        """Play the current episodes again up to where `get_state()` was asked; CannotReplay if they lead elsewhere."""
        names = ("seed", "episode", "length", "actions", "obs", "earned")
        checked_state(self.id, self.num_envs, state, names)
        self._seeds[:], self._episode[:] = state["seed"], state["episode"]
        obs = np.stack([self._begin(i) for i in range(self.num_envs)])
        for i, env in enumerate(self._envs):
            for action in state["actions"][i, : state["length"][i]]:
                seen, reward, *_ = env.step(native_action(env.action_space, action))
                obs[i] = self._flat(seen)
                self._earned[i] += float(reward)
                self._actions[i].append(action.copy())
                alive()
            for what, now, then in (
                ("shows another observation", obs[i], state["obs"][i]),
                ("pays another reward", self._earned[i], state["earned"][i]),
            ):
                if not np.array_equal(now, then, equal_nan=True):
                    raise CannotReplay(
                        f"{self.id} cannot be resumed: begun again with the seed of its episode and given the same "
                        f"{state['length'][i]} actions, environment {i} {what}; it must depend on nothing else, so "
                        "look for what it carries from one episode to the next, or draws from elsewhere"
                    )
        self._obs = obs.copy()
        return obs

    def render(self, index: int = 0, width: int = 480, height: int = 480) -> NDArray[np.uint8]:
        """The environment's own picture, in the size it draws."""
        try:
            frame = self._envs[index].render()
        except gymnasium.error.DependencyNotInstalled as error:
            raise BadInput(f"{self.id} cannot be drawn: {error}") from None
        if not isinstance(frame, np.ndarray):
            raise BadInput(f"{self.id}: make it with render_mode='rgb_array' to draw it")
        return frame

    def close(self) -> None:
        """Close every environment, also those after one that cannot be closed."""
        with contextlib.ExitStack() as stack:
            for env in self._envs:
                stack.callback(env.close)

    def _count_costs(self) -> int:
        """How many costs a step has, found by taking one: a missing cost is noticed at once."""
        env = self._envs[0]
        env.reset(seed=0)
        env.action_space.seed(0)
        action = env.action_space.sample()
        obs, _, _, _, info = stepped(self.id, env.step(action))
        return np.size(self._cost(obs, action, info))

    def _begin(self, i: int) -> NDArray[np.float64]:
        self._actions[i], self._earned[i] = [], 0.0
        seed = episode_seed(int(self._seeds[i]), int(self._episode[i]))
        return self._flat(begun(self.id, self._envs[i].reset(seed=seed)))

    def _flat(self, obs: Any) -> NDArray[np.float64]:
        flat = np.asarray(flatten(self._native_space, obs), np.float64)
        if flat.shape != self.observation_space.shape:
            raise BadInput(
                f"{self.id}: an observation has the shape {np.shape(obs)}, "
                f"and its observation_space {self._native_space.shape}"
            )
        return flat

    def _as_many(self, cost: ArrayLike) -> NDArray[np.float64]:
        """The costs of a step, [costs]: one number must not count for two."""
        costs = np.asarray(cost, np.float64).ravel()
        if len(costs) != self.num_costs:
            raise BadInput(
                f"{self.id}: the cost of a step has {counted(len(costs), 'value')}, and its first step's had "
                f"{self.num_costs}; return as many each time"
            )
        return costs
