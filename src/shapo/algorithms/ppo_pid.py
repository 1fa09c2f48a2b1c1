"""CPPO-PID (Stooke et al., 2020): PPO on (A_r − λA_c)/(1 + λ), with λ from a PID controller of the cost.

The objective of `trpo_pid` and the step of `ppo`: the paper's own pair.
"""

from dataclasses import replace
from typing import Any

from shapo.algorithms.ppo import ppo
from shapo.algorithms.search import PolicySearch
from shapo.rules.multipliers import Pid
from shapo.rules.objectives import Lagrangian, as_limits


def ppo_pid(
    *, cost_limit: float | tuple[float, ...], pid: Pid = Pid(), **base: Any
) -> PolicySearch:
    """PID-Lagrangian on PPO; further keywords are those of `ppo`."""
    return replace(ppo(**base), objective=Lagrangian(as_limits(cost_limit), pid))
