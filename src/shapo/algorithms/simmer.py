"""Simmer (Sootla et al., 2022): Sauté with a budget that begins small and that a controller raises up to the limit.

The constraint lives in the environment (`shapo.envs.simmer`), as Sauté's does; while the agent is still clumsy, it
learns on a budget that teaches it to be careful.
"""

from dataclasses import replace

from shapo.algorithms.search import PolicySearch
from shapo.envs.simmer import SimmeringBudget
from shapo.rules.objectives import as_limits


def simmer(
    *,
    budget: float | tuple[float, ...],
    base: PolicySearch,
    discount: float = 0.999,
    unsafe_reward: float = -1.0,
    start: float = 0.1,
    kp: float = 0.05,
    ki: float = 0.005,
) -> PolicySearch:
    """Simmer around any base: `simmer(budget=10.0, base=trpo(gradient=Shapo(2e-4)))`."""
    wrapper = SimmeringBudget(as_limits(budget), discount, unsafe_reward, start, kp, ki)
    return replace(base, environment=wrapper)
