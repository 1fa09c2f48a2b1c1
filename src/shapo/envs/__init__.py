"""Environments: many at once, NumPy in and out, and cost a signal of its own.

`make` builds them, `table` lists them. Importing this package also makes them known to Gymnasium
as `shapo/<id>`.
"""

from shapo.envs import gymnasium_out
from shapo.envs.costs import NoCost, free
from shapo.envs.gymnasium_in import FromGymnasium
from shapo.envs.heartbeat import alive
from shapo.envs.listing import Row, table
from shapo.envs.protocol import BatchEnv, Step
from shapo.envs.registry import (
    HORIZONS,
    IDS,
    UnknownEnvironment,
    canonical,
    make,
    takes_cost,
    to_draw,
)
from shapo.envs.saute import Saute

gymnasium_out.register(HORIZONS)

__all__ = [
    "IDS",
    "BatchEnv",
    "FromGymnasium",
    "NoCost",
    "Row",
    "Saute",
    "Step",
    "UnknownEnvironment",
    "alive",
    "canonical",
    "free",
    "make",
    "table",
    "takes_cost",
    "to_draw",
]
