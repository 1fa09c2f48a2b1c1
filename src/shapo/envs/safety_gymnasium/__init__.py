"""The functions of the package `safety_gymnasium`, on our environments.

`import shapo.envs.safety_gymnasium as safety_gymnasium`, and a client of that package runs on: what `make` and
`vector.make` return has a `step` that gives (obs, reward, cost, terminated, truncated, info). The info holds the cost,
but not what each kind of object adds to it.
"""

from shapo.envs.safety_gymnasium import vector, wrappers
from shapo.envs.safety_gymnasium.making import make

__all__ = ["make", "vector", "wrappers"]
