"""One recorded update of the authors' release, in float64, against ours.

The release averages KL over action dimensions, so its radii and damping are multiplied by their number. Its
conjugate gradients add 1e-6 to denominators and stop after 10 (perturbation) or 15 (update) iterations; ours stop on
the residual.
"""

import itertools
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from problems import progress

from shapo.rules.geometry import fisher, steepest
from shapo.rules.gradients import Shapo
from shapo.rules.networks import Layer, Policy
from shapo.rules.surrogates import Samples, policy_behaviour, surrogate

GOLDEN = Path(__file__).parents[1] / "golden"


class Released:
    def __init__(self, robot):
        self.data = dict(np.load(GOLDEN / f"released_update_{robot}.npz"))
        obs = np.load(GOLDEN / f"released_obs_{robot}.npz")["obs"]
        self.obs_size, self.act_size = obs.shape[1], self.data["act"].shape[1]
        advantage = jnp.asarray(self.data["adv"])
        self.samples = Samples(
            jnp.asarray(obs),
            jnp.asarray(self.data["act"]),
            jnp.asarray(self.data["log_prob"]),
            advantage,
            advantage[:, None],
            jnp.ones_like(advantage),
        )
        self.policy = self.unflatten(self.data["theta"])

    def unflatten(self, theta) -> Policy:
        """The release's order: log_std, then weight [out, in] and bias of each layer."""
        sizes = (self.obs_size, 64, 64, self.act_size)
        log_std, rest = theta[: self.act_size], theta[self.act_size :]
        layers = []
        for n, m in itertools.pairwise(sizes):
            weight, bias, rest = rest[: n * m], rest[n * m : n * m + m], rest[n * m + m :]
            layers.append(Layer(jnp.asarray(weight.reshape(m, n).T), jnp.asarray(bias)))
        return Policy(tuple(layers), jnp.asarray(log_std))

    def flatten(self, tree: Policy):
        parts = [tree.log_std]
        for weight, bias in tree.layers:
            parts += [weight.T.ravel(), bias]
        return np.concatenate([np.asarray(part) for part in parts])


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def relative(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


@pytest.mark.parametrize("robot", ["point", "ant"])
def test_perturbation_gradient_and_step(robot):
    released = Released(robot)
    data, dims = released.data, released.act_size
    down, up = (float(data[f"delta_{way}_per_dim"]) * dims for way in ("down", "up"))

    @jax.jit
    def update(policy, samples):
        loss, behaviour = (
            surrogate(samples, samples.reward_advantage),
            policy_behaviour(samples.obs),
        )
        metric = fisher(behaviour, policy, damping=0.1 * dims, iterations=60, tolerance=1e-8)
        grads = jax.grad(loss)(policy)
        slope = Shapo(down, tolerance=1e-8)(loss, policy, metric, behaviour, progress())
        ascent, descent = steepest(grads, metric, down), steepest(slope.grads, metric, up)
        return grads, ascent.move, slope.grads, descent.move

    grads, ascent, shapo_grads, descent = map(
        released.flatten, update(released.policy, released.samples)
    )
    assert relative(grads, data["loss_gradient"]) < 1e-9
    assert cosine(ascent, data["perturbation"]) > 0.9999
    assert relative(shapo_grads, data["shapo_loss_gradient"]) < 1e-3
    assert cosine(-descent, data["trpo_step_before_line_search"]) > 0.999
    assert relative(-descent, data["trpo_step_before_line_search"]) < 0.03
