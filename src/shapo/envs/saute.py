"""Sauté: the remaining safety budget is observed, and the task pays only while some is left."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium
import numpy as np
from numpy.typing import NDArray

from shapo.envs.checks import checked_state
from shapo.envs.protocol import BatchEnv, Step
from shapo.words import BadInput


def step_budget(budget: float, discount: float, horizon: int) -> float:
    """What a whole episode may cost, in the units of the discounted remaining budget."""
    if discount == 1.0:
        return budget
    return budget * (1 - discount**horizon) / (1 - discount) / horizon


@dataclass(frozen=True)
class Budget:
    """A safety budget for any environment: the wrapper that Sauté wants, as numbers alone."""

    budget: tuple[float, ...]
    """Cost that an episode may incur, one per cost signal."""
    discount: float = 0.999
    unsafe_reward: float = -1.0

    def __call__(self, env: BatchEnv) -> "Saute":
        return Saute(env, self.budget, self.discount, self.unsafe_reward)


class Opening(Protocol):
    """A rule for how much of its budget an episode begins with. Its state is arrays with a row per environment."""

    def init(self, envs: int, costs: int) -> dict[str, NDArray]:
        """The state before the first episodes."""
        ...

    def share(self, state: Mapping[str, NDArray]) -> NDArray[np.float64] | float:
        """[n, C] from 0 to 1, for the episodes that begin now."""
        ...

    def after(
        self, state: Mapping[str, NDArray], spent: NDArray[np.float64], ended: NDArray[np.bool_]
    ) -> dict[str, NDArray]:
        """The state after a step that spent so much of the budgets, [n, C], and ended some episodes, [n]."""
        ...

    def given_up(self, state: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """The state once all episodes are left where they are, which says nothing about what they would have spent."""
        ...


@dataclass(frozen=True)
class Whole:
    """Every episode begins with the whole budget."""

    def init(self, envs: int, costs: int) -> dict[str, NDArray]:
        """Nothing to remember."""
        return {}

    def share(self, state: Mapping[str, NDArray]) -> float:
        """1."""
        return 1.0

    def after(
        self, state: Mapping[str, NDArray], spent: NDArray[np.float64], ended: NDArray[np.bool_]
    ) -> dict[str, NDArray]:
        """Nothing to learn."""
        return {}

    def given_up(self, state: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Nothing to forget."""
        return {}


class Saute:
    """An environment whose observation ends with what is left of the budget, z, from 1 down.

    Each step z <- (z - cost / d) / discount; where it is not positive, the reward is `unsafe_reward`
    and `Step.task_reward` still tells what the task paid. Several costs need several budgets, and
    each has its z. With an infinite budget z stays 1. An episode begins with the whole budget, z = 1, or with
    what `opening` says.
    """

    def __init__(
        self,
        env: BatchEnv,
        budget: float | Sequence[float],
        discount: float = 0.999,
        unsafe_reward: float = -1.0,
        opening: Opening = Whole(),
    ) -> None:
        budgets = np.atleast_1d(np.asarray(budget, np.float64))
        if budgets.shape != (env.num_costs,):
            raise BadInput(
                f"Saute: {env.id} has {env.num_costs} cost(s), got {budgets.size} budget(s)"
            )
        if not (budgets > 0).all():
            raise BadInput(
                f"Saute: the budget, which is cost_limit, must be positive, got {budgets.min():g}; "
                "to forbid any cost at all, choose less than a single cost: cost_limit=0.5, or --cost-limit 0.5"
            )
        if not 0 < discount <= 1:
            raise BadInput(f"Saute: the discount must lie in (0, 1], got {discount}")
        if env.horizon is None:
            raise BadInput(
                f"Saute: {env.id} has no time limit to spread the budget over; "
                "give it one: gymnasium.wrappers.TimeLimit(env, max_episode_steps=1000)"
            )
        self.env = env
        self.id, self.num_envs = env.id, env.num_envs
        self.num_costs, self.horizon = env.num_costs, env.horizon
        self.action_space = env.action_space
        space = env.observation_space
        self.observation_space: gymnasium.spaces.Box[Any] = gymnasium.spaces.Box(
            np.append(space.low, np.full(env.num_costs, -np.inf)),
            np.append(space.high, np.full(env.num_costs, np.inf)),
            dtype=np.float64,
        )
        self.unsafe_reward = unsafe_reward
        self._scale = np.array([step_budget(b, discount, env.horizon) for b in budgets])
        self._discount = np.where(np.isinf(budgets), 1.0, discount)
        with np.errstate(over="ignore"):
            furthest = self._discount ** -float(env.horizon) * np.fmax(1, env.horizon / budgets)
        if not (furthest < np.finfo(np.float32).max).all():
            raise BadInput(
                f"Saute: with a discount of {discount:g}, saute_discount, what is left of the budget grows beyond all "
                f"numbers within the {env.horizon} steps of an episode; choose one nearer to 1"
            )
        self._budgets, self._opening = budgets, opening
        self._left = np.ones((env.num_envs, env.num_costs))
        self._memory = opening.init(env.num_envs, env.num_costs)

    def reset(self, seed: int | None) -> NDArray[np.float64]:
        """Begin new episodes with new budgets; without a seed, as large as the episodes before have made them."""
        obs = self.env.reset(seed)
        opening = self._opening
        self._memory = (
            opening.init(*self._left.shape) if seed is not None else opening.given_up(self._memory)
        )
        self._left[:] = opening.share(self._memory)
        return self._append(obs, self._left)

    def step(self, action: NDArray) -> Step:
        """Step, spend, and pay only while something is left."""
        step = self.env.step(action)
        cost = step.cost.reshape(self._left.shape)
        left = (self._left - cost / self._scale) / self._discount
        ended = step.terminated | step.truncated
        self._memory = self._opening.after(self._memory, cost / self._budgets, ended)
        self._left = np.where(ended[:, None], self._opening.share(self._memory), left)
        task_reward = step.reward if step.task_reward is None else step.task_reward
        return step._replace(
            obs=self._append(step.obs, self._left),
            last_obs=self._append(step.last_obs, left),
            reward=np.where((left > 0).all(axis=1), step.reward, self.unsafe_reward),
            task_reward=task_reward,
        )

    def get_state(self) -> dict[str, NDArray]:
        """The wrapped environment's state and the remaining budgets."""
        return {**self.env.get_state(), "saute_left": self._left.copy(), **self._memory}

    def set_state(self, state: Mapping[str, NDArray]) -> NDArray[np.float64]:
        """Continue from `get_state()`'s answer."""
        own = ("saute_left", *self._memory)
        checked_state(self.id, self.num_envs, state, own)
        obs = self.env.set_state({k: v for k, v in state.items() if k not in own})
        self._memory = {name: np.array(state[name]) for name in self._memory}
        self._left = np.array(state["saute_left"])
        return self._append(obs, self._left)

    def render(self, index: int = 0, width: int = 480, height: int = 480) -> NDArray[np.uint8]:
        """The wrapped environment's picture."""
        return self.env.render(index, width, height)

    def close(self) -> None:
        """Close the wrapped environment."""
        self.env.close()

    @staticmethod
    def _append(obs: NDArray, left: NDArray) -> NDArray[np.float64]:
        return np.concatenate([obs, left], axis=1)
