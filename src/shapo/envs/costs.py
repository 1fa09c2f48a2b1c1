"""What a step of a Gymnasium environment costs: what a function of yours says, or the environment itself."""

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from shapo.experiment.algos import IGNORES_COST
from shapo.words import BadInput

CostFunction = Callable[[Any, Any, dict[str, Any]], ArrayLike]
"""(observation the step led to, action, info) -> cost, or a vector of several costs."""


class NoCost(BadInput):
    """An environment that does not say what its steps cost. `make(..., cost=free)` runs it all the same."""


def free(obs: Any, action: Any, info: dict[str, Any]) -> float:
    """The cost function of an environment in which nothing costs anything."""
    return 0.0


def own(id: str) -> CostFunction:
    """The cost function of the environment `id`, which says itself what a step costs."""

    def told(obs: Any, action: Any, info: dict[str, Any]) -> ArrayLike:
        if "cost" not in (info or {}):
            raise NoCost(
                f"{id}: step() returned no info['cost']; return one, or pass "
                "cost=function(obs, action, info), on the command line --cost module:function; "
                f"{', '.join(IGNORES_COST)} need none"
            )
        return info["cost"]

    return told
