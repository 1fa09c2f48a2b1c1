"""What a batch is worth: advantages for the policy to climb, targets for the critics to fit."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

from shapo.learning.advantages import centre, sides, standardise
from shapo.learning.normalization import normalize
from shapo.learning.values import Trajectory, Values
from shapo.rules import networks
from shapo.rules.networks import Mlp, Policy
from shapo.rules.schedules import autocorrelation_time
from shapo.rules.surrogates import Samples


class Appraisal(NamedTuple):
    """A batch, flattened to B rows, as its critics see it."""

    samples: Samples
    targets: tuple[Array, ...]
    """[B] for each critic."""
    autocorrelation: Array
    """Steps after which the reward's advantages have forgotten each other."""


def appraise(
    policy: Policy,
    critics: Sequence[Mlp],
    batch: Any,
    normalization: tuple[Any, Any],
    *,
    values: Values,
    discount: float,
    gae_decay: float,
) -> Appraisal:
    """Judge a `Batch` (traced, so its arrays are JAX's) that `policy` made, by critics of reward and of each cost.

    The critics of one signal stand together, as many as `values` wants.
    """
    obs, next_obs = normalize(batch.obs, *normalization), normalize(batch.next_obs, *normalization)
    signals = [batch.reward, *(batch.cost[..., i] for i in range(batch.cost.shape[-1]))]
    each = len(values.critics)
    judged = [
        values.judge(
            critics[i * each : (i + 1) * each],
            Trajectory(
                signal, obs, next_obs, batch.terminated, batch.truncated, discount, gae_decay
            ),
            worse=1.0 if i else -1.0,
        )
        for i, signal in enumerate(signals)
    ]
    advantages = [found.advantage for found in judged]
    flat = lambda x: x.reshape(-1, *x.shape[2:])
    rows, action = flat(obs), flat(batch.action)
    samples = Samples(
        obs=rows,
        action=action,
        log_prob=networks.act(policy, rows).log_prob(action),
        reward_advantage=standardise(flat(advantages[0])),
        cost_advantage=centre(jnp.stack([flat(a) for a in advantages[1:]], -1), axis=0),
        side=flat(jnp.asarray(sides(*batch.reward.shape))),
    )
    targets = tuple(flat(target) for found in judged for target in found.targets)
    return Appraisal(samples, targets, autocorrelation_time(advantages[0]))
