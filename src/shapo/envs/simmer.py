"""Simmer: a safety budget that begins small and grows as the agent learns to keep within it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shapo.envs.protocol import BatchEnv
from shapo.envs.saute import Budget, Saute
from shapo.words import BadInput


@dataclass(frozen=True)
class Controlled:
    """A PI controller of the share u of the budget with which an episode begins, in each environment by itself.

        e = u − what the episode spent,   I ← I + e, kept within 0 and 1
        u ← u + K_p e + K_i I, kept within `start` and 1

    Whoever spends less than is allowed is allowed more; whoever spends more, less. An environment looks at its own
    episodes alone, so that it does not matter which others are stepped beside it.
    """

    start: float
    kp: float
    ki: float

    def __post_init__(self):
        if not 0 < self.start <= 1:
            raise BadInput(f"Controlled(start={self.start!r}): a share lies above 0 and at most 1")

    def init(self, envs: int, costs: int) -> dict[str, NDArray]:
        """The smallest share, and nothing spent."""
        zeros = np.zeros((envs, costs))
        names = ("simmer_share", "simmer_integral", "simmer_spent")
        return dict(zip(names, (zeros + self.start, zeros, zeros), strict=True))

    def share(self, state: Mapping[str, NDArray]) -> NDArray[np.float64]:
        """u, [n, C]."""
        return state["simmer_share"]

    def after(
        self, state: Mapping[str, NDArray], spent: NDArray[np.float64], ended: NDArray[np.bool_]
    ) -> dict[str, NDArray]:
        """Count what was spent; where an episode ended, move u."""
        over, total = ended[:, None], state["simmer_spent"] + spent
        share, integral = state["simmer_share"], state["simmer_integral"]
        error = share - total
        summed = np.clip(integral + error, 0.0, 1.0)
        moved = np.clip(share + self.kp * error + self.ki * summed, self.start, 1.0)
        return {
            "simmer_share": np.where(over, moved, share),
            "simmer_integral": np.where(over, summed, integral),
            "simmer_spent": np.where(over, 0.0, total),
        }

    def given_up(self, state: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """u stays; what was spent is forgotten."""
        return {**state, "simmer_spent": np.zeros_like(state["simmer_spent"])}


@dataclass(frozen=True)
class SimmeringBudget:
    """A growing safety budget for any environment: the wrapper that Simmer wants, as numbers alone."""

    budget: tuple[float, ...]
    """Cost that an episode may incur in the end, one per cost signal."""
    discount: float = 0.999
    unsafe_reward: float = -1.0
    start: float = 0.1
    """Share of the budget that the first episodes have."""
    kp: float = 0.05
    ki: float = 0.005

    def __call__(self, env: BatchEnv) -> Saute:
        return Saute(
            env,
            self.budget,
            self.discount,
            self.unsafe_reward,
            Controlled(self.start, self.kp, self.ki),
        )

    def settled(self) -> Budget:
        """What it comes to: the whole budget. A trained policy is judged in that."""
        return Budget(self.budget, self.discount, self.unsafe_reward)
