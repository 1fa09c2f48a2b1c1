"""Sauté (Sootla et al., 2022): put the remaining safety budget into the state, and stop paying once it is spent.

    z ← (z − cost / budget) / γ_s,   z₀ = 1;   reward = r while z > 0, else a fixed unsafe reward

The constraint then lives in the environment (`shapo.envs.saute`) and any unconstrained algorithm can learn it; the
paper uses TRPO. Here is the recipe: a base algorithm in such an environment.
"""

from dataclasses import replace

from shapo.algorithms.search import PolicySearch
from shapo.envs.saute import Budget
from shapo.rules.objectives import as_limits


def saute(
    *,
    budget: float | tuple[float, ...],
    base: PolicySearch,
    discount: float = 0.999,
    unsafe_reward: float = -1.0,
) -> PolicySearch:
    """Sauté around any base: `saute(budget=10.0, base=trpo(gradient=Shapo(2e-4)))`; several costs take a tuple."""
    return replace(base, environment=Budget(as_limits(budget), discount, unsafe_reward))
