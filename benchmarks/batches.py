"""Batches that one policy of a finished run collects, for scripts that compare what can be learned from each."""

from collections.abc import Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from shapo.learning.appraisal import Appraisal, appraise
from shapo.learning.learner import Learner, TrainState
from shapo.learning.leaves import unflatten
from shapo.learning.normalization import frozen
from shapo.rollout.blueprint import Blueprint
from shapo.rollout.rollout import Rollout
from shapo.runs.folder import Run
from shapo.runs.resuming import newest_usable

Numbers = Sequence[float] | NDArray


def collected(run: Run, batches: int) -> tuple[Learner, TrainState, list[Appraisal]]:
    """What the run's last checkpoint knows, and several batches of its policy as its critics see them."""
    checkpoint, _ = newest_usable(run)
    assert checkpoint, f"{run.folder} has no checkpoint"
    experiment, found = run.experiment, []
    with Rollout(Blueprint(experiment, None), Path("workers.log")) as rollout:
        spec = rollout.spec
        learner = Learner.build(experiment, spec.observation, spec.actions.size, spec.costs)
        state = unflatten(learner.init(experiment.seed), checkpoint.part("learner"))
        rollout.restore(checkpoint.part("rollout"))
        critics = [critic.params for critic in state.critics]
        look = jax.jit(
            lambda batch: appraise(
                state.policy, critics, batch, frozen(state.statistics), values=learner.values,
                discount=experiment.discount, gae_decay=experiment.gae,
            )
        )  # fmt: skip
        for each in range(batches):
            rollout.begin(checkpoint.iteration + 1 + each, learner.actor(state))
            found.append(look(jax.tree.map(jnp.array, rollout.finish().batch)))
    return learner, state, found


def mean(values: Numbers, form: str) -> str:
    """± the standard error."""
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):{form}} ± {error:{form.lstrip('+')}}"
