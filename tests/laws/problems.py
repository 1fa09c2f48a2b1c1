"""Small policies and batches on which a dense matrix is affordable.

Made in NumPy: JAX's random numbers take longer to compile than the laws that use them.
"""

import itertools

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import oracle

from shapo.learning.advantages import sides
from shapo.rules.epochs import minibatches
from shapo.rules.networks import Layer, Policy
from shapo.rules.surrogates import Samples
from shapo.types import Progress

OBS, ACT, ROWS = 3, 2, 120
CHOICES = 3
KEY = np.array([0, 3], np.uint32)


def network(seed, sizes):
    rng = np.random.default_rng(seed)
    layer = lambda n, m: Layer(*(jnp.asarray(rng.uniform(-1, 1, s) / n**0.5) for s in ((n, m), m)))
    return tuple(layer(n, m) for n, m in itertools.pairwise(sizes))


def policy(seed=0, hidden=(6,)):
    return Policy(network(seed, (OBS, *hidden, ACT)), jnp.array([-0.3, 0.2]))


def chooser(seed=0, hidden=(6,)):
    return Policy(network(seed, (OBS, *hidden, CHOICES)), None)


def samples(params, seed=1, costs=1, rows=ROWS):
    rng = np.random.default_rng(seed)
    theta = np.asarray(flat(params), float)
    net = oracle.Mlp(*(len(layer.weight) for layer in params.layers), ACT)
    obs = rng.normal(size=(rows, OBS))
    noise = rng.normal(size=(rows, ACT))
    action = net.forward(theta, obs)[0] + np.exp(params.log_std) * noise
    # Advantages that depend on the action, so that there is something to learn.
    reward = action[:, 0] * obs[:, 0] + 0.5 * rng.normal(size=rows)
    cost = action[:, 1:] * obs[:, 1:2] + 0.5 * rng.normal(size=(rows, costs))
    return appraised(net, theta, obs, action, reward, cost)


def chosen(params, seed=1, rows=ROWS):
    """The same for a policy that chooses: the first choice pays where the first observation is high, the last costs."""
    rng = np.random.default_rng(seed)
    theta = np.asarray(flat(params), float)
    net = oracle.Chooser(
        *(len(layer.weight) for layer in params.layers), params.layers[-1].bias.size
    )
    obs = rng.normal(size=(rows, OBS))
    log_probs, _ = net.log_probs(theta, obs)
    action = np.argmax(log_probs + rng.gumbel(size=log_probs.shape), axis=1)[:, None].astype(float)
    reward = (action[:, 0] == 0) * obs[:, 0] + 0.5 * rng.normal(size=rows)
    cost = (action == net.actions - 1) * obs[:, 1:2] + 0.5 * rng.normal(size=(rows, 1))
    return appraised(net, theta, obs, action, reward, cost)


def appraised(net, theta, obs, action, reward, cost):
    log_prob = net.log_prob(theta, oracle.Data(obs, action, 0.0, 0.0, 0.0))[0]
    advantages = (reward - reward.mean()) / reward.std(), cost - cost.mean(0)
    side = sides(len(obs) // 10, 10).astype(float).ravel()
    return Samples(*map(jnp.asarray, (obs, action, log_prob, *advantages, side)))


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


def data(samples, advantage=None):
    """The same rows for the NumPy oracle; the reward's advantage unless told."""
    advantage = samples.reward_advantage if advantage is None else advantage
    cost = samples.cost_advantage[:, 0]
    arrays = samples.obs, samples.action, samples.log_prob, advantage, cost
    return oracle.Data(*(np.asarray(array, float) for array in arrays))


def orders(rows, size, epochs, key=KEY):
    """The rows of each minibatch of each epoch of PPO."""
    keys = (jax.random.fold_in(key, epoch) for epoch in range(epochs))
    return [np.asarray(minibatches(key, rows, size)) for key in keys]
