"""What is kept from one batch to the next."""

from typing import Any, NamedTuple

import numpy as np
from jax import Array

from shapo.learning.normalization import Statistics
from shapo.rules.critics import Critic
from shapo.rules.networks import Policy


class TrainState(NamedTuple):
    """All that learning remembers, as arrays."""

    policy: Policy
    critics: tuple[Critic, ...]
    """The reward's, then each cost's; one of each, unless the value rule wants more."""
    algorithm: Any
    statistics: Statistics
    """Of the observations; frozen while a batch is collected and learned from."""
    key: Array
    iteration: np.int64
    samples: np.float64
    effective_samples: np.float64
