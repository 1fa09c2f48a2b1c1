"""A batch's worth, written out in NumPy: whose values judge what, from which observations and in which unit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm
from test_advantages import DISCOUNT, LAMBDA, by_definition

from shapo.learning.appraisal import appraise
from shapo.learning.normalization import CLIP
from shapo.learning.values import Ensemble, Mean
from shapo.rules.networks import Layer, Policy
from shapo.rules.schedules import autocorrelation_time
from shapo.types import Batch

T, N, O, A, C = 17, 5, 3, 2, 2
MEAN, SCALE = np.array([2.0, -1.0, 0.5]), np.array([3.0, 0.5, 1.0])


def batch():
    """Some observations are far out, and the two costs are of different sizes."""
    rng = np.random.default_rng(0)
    obs, next_obs = rng.normal(1, 3, (2, T, N, O))
    cost = rng.random((T, N, C)) * [1.0, 10.0]
    terminated, truncated = rng.random((2, T, N)) < 0.1
    reward = obs[..., 0] + rng.normal(size=(T, N))
    arrays = obs, next_obs, rng.normal(size=(T, N, A)), reward, cost
    return Batch(*(each.astype(np.float32) for each in arrays), terminated, truncated)


def linear(rng, outputs=1):
    weight, bias = rng.normal(size=(O, outputs)), rng.normal(size=outputs)
    return (Layer(jnp.asarray(weight), jnp.asarray(bias)),)


@pytest.mark.parametrize("rule", [Mean(), Ensemble(3, beta=0.7)])
def test_every_signal_is_judged_by_its_own_critics(rule):
    rng, seen, members = np.random.default_rng(1), batch(), len(rule.critics)
    critics = [linear(rng) for _ in range((1 + C) * members)]
    policy = Policy(linear(rng, A), jnp.array([-0.3, 0.2]))
    found = jax.jit(
        lambda seen: appraise(
            policy, critics, seen, (MEAN, SCALE), values=rule, discount=DISCOUNT, gae_decay=LAMBDA
        )
    )(seen)

    here, there = (np.clip((x - MEAN) / SCALE, -CLIP, CLIP) for x in (seen.obs, seen.next_obs))
    assert (abs(here) == CLIP).any() and (abs(there) == CLIP).any()
    ends = seen.terminated, seen.truncated
    of = lambda critic, x: (x @ np.asarray(critic[0].weight) + np.asarray(critic[0].bias))[..., 0]
    signals, advantages, targets = (seen.reward, *np.moveaxis(seen.cost, -1, 0)), [], []
    for i, signal in enumerate(signals):
        own = critics[i * members :][:members]
        now, then = (np.array([of(critic, x) for critic in own]) for x in (here, there))
        targets += [by_definition(signal, v, w, *ends) + v for v, w in zip(now, then, strict=True)]
        sign, beta = (1 if i else -1), getattr(rule, "beta", 0.0)  # less reward is worse, more cost
        doubted = (v.mean(0) + sign * beta * v.std(0) for v in (now, then))
        advantages.append(by_definition(signal, *doubted, *ends))

    same = lambda found, expected: np.testing.assert_allclose(
        found, expected.reshape(found.shape), rtol=1e-3, atol=1e-4
    )
    reward, *costs = advantages
    rows = found.samples
    same(rows.reward_advantage, (reward - reward.mean()) / reward.std())
    for ours, cost in zip(rows.cost_advantage.T, costs, strict=True):
        same(ours, cost - cost.mean())
    for ours, target in zip(found.targets, targets, strict=True):
        same(ours, target)
    same(found.autocorrelation, np.asarray(autocorrelation_time(jnp.asarray(reward))))
    same(rows.obs, here)
    mean, log_std = of_policy(policy, here)
    same(rows.log_prob, norm.logpdf(seen.action, mean, np.exp(log_std)).sum(-1))
    first = np.arange(T * N) % N < N // 2
    assert (rows.side[first] > 0).all() and (rows.side[~first] < 0).all()


def of_policy(policy, x):
    (layer,) = policy.layers
    return x @ np.asarray(layer.weight) + np.asarray(layer.bias), np.asarray(policy.log_std)
