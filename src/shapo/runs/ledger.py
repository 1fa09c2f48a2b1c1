"""The paper's metrics, kept over a whole training: episodes, cost rate, falls, tails."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from shapo.experiment import Experiment
from shapo.types import Batch, Episodes

RECENT = 50
"""Episodes that the percentiles look back on, as in the release."""
PERCENTILES = (80, 95)


def suffixes(costs: int) -> list[str]:
    """What the columns of each cost signal end in: nothing where there is one, numbers where there are several."""
    return [""] if costs == 1 else [f"_{number}" for number in range(1, costs + 1)]


class Ledger:
    """Counts what has happened so far."""

    def __init__(self, experiment: Experiment):
        self._experiment = experiment
        costs = len(experiment.cost_limit)
        self._suffixes = suffixes(costs)
        self._steps = np.int64(0)
        self._episodes = np.int64(0)
        self._terminations = np.int64(0)
        self._cost = np.zeros(costs)
        self._recent_costs = np.empty((0, costs))
        self._recent_lengths = np.empty(0)
        self._last_return = np.float64(np.nan)
        self._last_cost = np.full(costs, np.nan)
        self._last_length = np.float64(np.nan)
        self._new = 0

    def add(self, batch: Batch, episodes: Episodes) -> None:
        """Take a batch and the episodes that ended in it into account."""
        self._steps += batch.reward.size
        self._cost = self._cost + batch.cost.sum(axis=(0, 1), dtype=np.float64)
        self._episodes += len(episodes.env)
        self._terminations += episodes.terminated.sum()
        self._new = len(episodes.env)
        if len(episodes.env):
            self._last_return = episodes.returns.mean()
            self._last_cost = episodes.costs.mean(axis=0)
            self._last_length = episodes.length.mean()
            kept = max(RECENT, self._experiment.episode_window)
            self._recent_costs = np.concatenate([self._recent_costs, episodes.costs])[-kept:]
            self._recent_lengths = np.concatenate([self._recent_lengths, episodes.length])[-kept:]

    def episode_cost(self) -> NDArray[np.float64]:
        """What the constraint sees [C].

        As long as no episode has ended nothing is known, and the constraint counts as met exactly.
        """
        if not len(self._recent_costs):
            return np.array(self._experiment.cost_limit, np.float64)
        window = self._experiment.episode_window
        return self._recent_costs[-window:].mean(axis=0) if window else self._last_cost

    def episode_length(self) -> float:
        """Mean steps of the very episodes whose cost the constraint sees; before any has ended, infinite."""
        if not len(self._recent_lengths):
            return float("inf")
        window = self._experiment.episode_window
        return float(self._recent_lengths[-window:].mean() if window else self._last_length)

    def episode_news(self) -> float:
        """Of these episodes the share that ended in the batch added last."""
        seen = min(self._experiment.episode_window, len(self._recent_lengths)) or self._new
        return min(self._new / seen, 1.0) if seen else 0.0

    def told(self) -> tuple[list[float], float, float]:
        """All that a learner is told of episodes."""
        return self.episode_cost().tolist(), self.episode_length(), self.episode_news()

    def row(self, iteration: int) -> dict[str, float]:
        """The columns of `progress.csv` that the environments decide."""
        row = {
            "iteration": iteration,
            "steps": int(self._steps),
            "episodes": int(self._episodes),
            "reward/episode": float(self._last_return),
        }
        row |= self._per_cost("cost/episode", self._last_cost)
        row |= self._per_cost("cost/limit", self._experiment.cost_limit)
        row |= self._per_cost("cost/rate", self._cost / self._steps)
        row |= self._per_cost("cost/total", self._cost)
        recent = self._recent_costs[-RECENT:]
        for percent in PERCENTILES:
            tail = np.percentile(recent, percent, axis=0) if len(recent) else self._last_cost
            row |= self._per_cost(f"cost/p{percent}", tail)
        row["episode/length"] = float(self._last_length)
        row["termination/total"] = int(self._terminations)
        # Of the episodes so far, the share that ended in a fall: unknown before one has ended.
        share = self._terminations / self._episodes if self._episodes else np.nan
        row["termination/rate"] = float(share)
        return row

    def episode_rows(self, iteration: int, episodes: Episodes) -> list[dict[str, float]]:
        """The lines of `episodes.csv` for the episodes of the batch added last."""
        envs = self._experiment.num_envs
        before = int(self._steps) - self._experiment.batch_steps
        return [
            {"iteration": iteration, "steps": before + (int(step) + 1) * envs, "env": int(env), "return": float(paid)}
            | self._per_cost("cost", costs)
            | {"length": int(length), "terminated": int(terminated)}
            for env, step, paid, costs, length, terminated in zip(*episodes, strict=True)
        ]  # fmt: skip

    def get_state(self) -> dict[str, NDArray]:
        """Everything counted, as arrays."""
        return {name: np.asarray(getattr(self, name)) for name in self._counted()}

    def set_state(self, state: Mapping[str, NDArray]) -> None:
        """Continue from `get_state()`'s answer."""
        for name in self._counted():
            setattr(self, name, state[name][()])

    def _counted(self) -> list[str]:
        return [name for name in vars(self) if name not in ("_experiment", "_suffixes", "_new")]

    def _per_cost(self, name: str, values) -> dict[str, float]:
        return {
            name + suffix: float(value)
            for suffix, value in zip(self._suffixes, values, strict=True)
        }
