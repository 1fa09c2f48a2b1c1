"""What a batch is worth: advantages for the policy to climb, targets for the critics to fit."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

from shapo.learning.advantages import centre, gae, sides, standardise
from shapo.learning.normalization import normalize
from shapo.rules import gaussian, networks
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
    discount: float,
    gae_decay: float,
) -> Appraisal:
    """Judge a `Batch` (traced, so its arrays are JAX's) that `policy` made, by critics of reward and of each cost."""
    obs, next_obs = normalize(batch.obs, *normalization), normalize(batch.next_obs, *normalization)
    signals = [batch.reward, *(batch.cost[..., i] for i in range(len(critics) - 1))]
    values = [networks.value(critic, obs) for critic in critics]
    advantages = [
        gae(
            signal,
            value,
            networks.value(critic, next_obs),
            batch.terminated,
            batch.truncated,
            discount=discount,
            gae=gae_decay,
        )
        for critic, signal, value in zip(critics, signals, values, strict=True)
    ]
    flat = lambda x: x.reshape(-1, *x.shape[2:])
    rows, action = flat(obs), flat(batch.action)
    samples = Samples(
        obs=rows,
        action=action,
        log_prob=gaussian.log_prob(networks.act(policy, rows), action),
        reward_advantage=standardise(flat(advantages[0])),
        cost_advantage=centre(jnp.stack([flat(a) for a in advantages[1:]], -1), axis=0),
        side=flat(jnp.asarray(sides(*batch.reward.shape))),
    )
    targets = tuple(flat(a + v) for a, v in zip(advantages, values, strict=True))
    return Appraisal(samples, targets, autocorrelation_time(advantages[0]))
