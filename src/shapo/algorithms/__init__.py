"""The algorithms: each a short recipe that answers what to climb, where to measure the slope, and how far to go."""

from shapo.algorithms.cpo import Cpo, cpo
from shapo.algorithms.cpo_as_released import AsReleased
from shapo.algorithms.crpo import crpo
from shapo.algorithms.cup import cup
from shapo.algorithms.focops import focops
from shapo.algorithms.ipo import ipo
from shapo.algorithms.npg import npg
from shapo.algorithms.p3o import p3o
from shapo.algorithms.pcpo import pcpo
from shapo.algorithms.ppo import ppo
from shapo.algorithms.ppo_lagrangian import ppo_lagrangian
from shapo.algorithms.ppo_pid import ppo_pid
from shapo.algorithms.rcpo import rcpo
from shapo.algorithms.saute import saute
from shapo.algorithms.search import Algorithm, PolicySearch
from shapo.algorithms.simmer import simmer
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
    "cup",
    "focops",
    "ipo",
    "npg",
    "p3o",
    "pcpo",
    "ppo",
    "ppo_lagrangian",
    "ppo_pid",
    "rcpo",
    "saute",
    "simmer",
    "trpo",
    "trpo_lagrangian",
    "trpo_pid",
]
