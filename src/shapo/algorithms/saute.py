"""Sauté (Sootla et al., 2022): put the remaining safety budget into the state, and stop paying once it is spent.

    z ← (z − cost / budget) / γ_s,   z₀ = 1;   reward = r while z > 0, else a fixed unsafe reward

The constraint then lives in the environment (`shapo.envs.saute`) and any unconstrained algorithm can learn it; the
paper uses TRPO. Here is the recipe: a base algorithm and the environment it wants to see.
"""

from dataclasses import dataclass
from typing import Any

from jax import Array

from shapo.algorithms.search import Algorithm
from shapo.envs.protocol import BatchEnv
from shapo.envs.saute import Saute as SauteEnv
from shapo.rules.gradients import Metrics
from shapo.rules.networks import Policy
from shapo.rules.surrogates import Samples
from shapo.types import Progress


@dataclass(frozen=True)
class Saute:
    """A base algorithm that learns in a Sauté environment."""

    budget: float
    """Cost that an episode may incur."""
    base: Algorithm
    discount: float = 0.999
    unsafe_reward: float = -1.0

    def environment(self, env: BatchEnv) -> BatchEnv:
        """The environment with the budget in its state."""
        return SauteEnv(env, self.budget, self.discount, self.unsafe_reward)

    def init(self, params: Policy) -> Any:
        """The base's state."""
        return self.base.init(params)

    def update(
        self, params: Policy, state: Any, samples: Samples, progress: Progress, key: Array
    ) -> tuple[Policy, Any, Metrics]:
        """The base's update."""
        return self.base.update(params, state, samples, progress, key)


def saute(
    *, budget: float, base: Algorithm, discount: float = 0.999, unsafe_reward: float = -1.0
) -> Saute:
    """Sauté around any base: `saute(budget=10.0, base=trpo(gradient=Shapo(2e-4)))`."""
    return Saute(budget, base, discount, unsafe_reward)
