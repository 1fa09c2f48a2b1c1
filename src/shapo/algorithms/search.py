"""The form that all algorithms but CPO share: an objective to climb, a step that climbs it, and where."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jax import Array

from shapo.envs.protocol import Wrapper
from shapo.rules.gradients import Metrics
from shapo.rules.networks import Policy
from shapo.rules.objectives import Objective
from shapo.rules.steps import Step, named
from shapo.rules.surrogates import Samples
from shapo.types import Progress
from shapo.words import BadInput


@runtime_checkable
class Algorithm(Protocol):
    """A policy update with memory."""

    @property
    def environment(self) -> Wrapper | None:
        """The environment in which it must learn, made of the task's; None: the task's own. Free of JAX."""
        ...

    def init(self, params: Policy) -> Any:
        """The algorithm's state before training."""
        ...

    def update(
        self, params: Policy, state: Any, samples: Samples, progress: Progress, key: Array
    ) -> tuple[Policy, Any, Metrics]:
        """Learn from one batch."""
        ...


class SearchState(NamedTuple):
    """What the objective and the step remember."""

    objective: Any
    step: Any


@dataclass(frozen=True)
class PolicySearch:
    """See the cost, combine the advantages, take a step."""

    objective: Objective
    step: Step
    environment: Wrapper | None = None
    """What is made of the task's environment first; None: nothing."""

    def init(self, params: Policy) -> SearchState:
        """Both parts' states."""
        return SearchState(self.objective.init(), self.step.init(params))

    def update(
        self, params: Policy, state: SearchState, samples: Samples, progress: Progress, key: Array
    ) -> tuple[Policy, SearchState, Metrics]:
        """Learn from one batch."""
        objective = self.objective.update(state.objective, progress)
        advantage = self.objective.advantage(
            objective, samples.reward_advantage, samples.cost_advantage
        )
        rows = np.shape(samples.reward_advantage)
        if np.shape(advantage) != rows:  # JAX would stretch it, and average over all pairs of rows
            raise BadInput(
                f"the objective {self.objective!r} returned an advantage {np.shape(advantage)} of {rows[0]:,} rows; "
                "return one number per row: of several costs, take cost_advantage[:, i]"
            )
        params, step, metrics = self.step.update(
            params, state.step, samples, advantage, progress, key
        )
        return (
            params,
            SearchState(objective, step),
            named("policy", self.objective.metrics(objective)) | metrics,
        )
