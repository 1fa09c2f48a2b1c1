"""The algorithms: each a short recipe that answers what to climb, where to measure the slope, and how far to go."""

from shapo.algorithms.cpo import Cpo, cpo
from shapo.algorithms.cpo_as_released import AsReleased
from shapo.algorithms.crpo import crpo
from shapo.algorithms.ppo import ppo
from shapo.algorithms.ppo_lagrangian import ppo_lagrangian
from shapo.algorithms.saute import saute
from shapo.algorithms.search import Algorithm, PolicySearch
from shapo.algorithms.trpo import trpo
from shapo.algorithms.trpo_lagrangian import trpo_lagrangian
from shapo.algorithms.trpo_pid import trpo_pid

__all__ = [
    "Algorithm",
    "AsReleased",
    "Cpo",
    "PolicySearch",
    "cpo",
    "crpo",
    "ppo",
    "ppo_lagrangian",
    "saute",
    "trpo",
    "trpo_lagrangian",
    "trpo_pid",
]
