"""Small policies and batches on which a dense matrix is affordable."""

import jax
import jax.numpy as jnp
import numpy as np

from shapo.learning.advantages import centre, sides, standardise
from shapo.rules import gaussian, networks
from shapo.rules.surrogates import Samples
from shapo.types import Progress

OBS, ACT, ROWS = 3, 2, 120


def policy(seed=0, hidden=(6,)):
    params = networks.init_policy(jax.random.PRNGKey(seed), OBS, hidden, ACT)
    return params._replace(log_std=jnp.array([-0.3, 0.2]))


def samples(params, seed=1, costs=1, rows=ROWS):
    keys = jax.random.split(jax.random.PRNGKey(seed), 4)
    obs = jax.random.normal(keys[0], (rows, OBS))
    pi = networks.act(params, obs)
    action = pi.mean + jnp.exp(pi.log_std) * jax.random.normal(keys[1], (rows, ACT))
    # Advantages that depend on the action, so that there is something to learn.
    reward = action[:, 0] * obs[:, 0] + 0.5 * jax.random.normal(keys[2], (rows,))
    cost = action[:, 1:] * obs[:, 1:2] + 0.5 * jax.random.normal(keys[3], (rows, costs))
    return Samples(
        obs,
        action,
        gaussian.log_prob(pi, action),
        standardise(reward),
        centre(cost, axis=0),
        jnp.asarray(sides(rows // 10, 10), reward.dtype).reshape(-1),
    )


def progress(episode_cost=(5.0,), iteration=0, samples=1000.0, remaining=1.0):
    return Progress(
        jnp.asarray(float(iteration)),
        jnp.asarray(samples),
        jnp.asarray(samples / 10),
        jnp.asarray(np.asarray(episode_cost, float)),
        jnp.asarray(20.0),
        jnp.asarray(remaining),
    )


def flat(tree):
    return jax.flatten_util.ravel_pytree(tree)[0]
