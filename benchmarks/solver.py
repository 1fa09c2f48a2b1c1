"""How fast F⁻¹g is solved for, and how well, with and without a sketch: the reason for `FisherSolver.thinning`.

    python benchmarks/solver.py RUN

The policy of a run acts for one batch; the gradient is that of its surrogate there. The error is in the matrix's own
norm, √((x−x*)ᵀF(x−x*) / x*ᵀFx*), against an x* solved to rounding. One state in one is plain conjugate gradients.
"""

import argparse
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.table import Table

from shapo import envs, load
from shapo.learning import compiling
from shapo.learning.advantages import gae, standardise
from shapo.learning.normalization import normalize
from shapo.rollout.actions import ActionScale
from shapo.rules import networks
from shapo.rules.networks import Layer
from shapo.rules.steps import FisherSolver
from shapo.rules.surrogates import Samples, surrogate
from shapo.rules.trees import add, dot, norm

STEPS, ENVS, REPEATS, DAMPING = 1000, 20, 9, 0.1


def batch(run: str) -> tuple[networks.Policy, Samples]:
    """One batch of a run's policy, with returns to go for advantages."""
    policy = load(run)
    env, rng = envs.make(policy.env, ENVS, seed=1_000_000), np.random.default_rng(0)
    actor, scale = policy.actor, policy.actions
    # Only such policies have a deviation.
    assert isinstance(scale, ActionScale) and actor.log_std is not None
    obs, rows = env.reset(1_000_000), []
    for _ in range(STEPS):
        mean = policy.act(obs)
        action = mean + scale.factor * np.exp(actor.log_std) * rng.normal(size=mean.shape)
        step = env.step(action)
        said = (action - scale.offset) / scale.factor
        rows.append((obs, said, step.reward, step.terminated, step.truncated))
        obs = step.obs
    seen, action, reward, terminated, truncated = (
        jnp.asarray(np.stack(each)) for each in zip(*rows, strict=True)
    )
    none = jnp.zeros_like(reward)
    returns = gae(reward, none, none, terminated, truncated, discount=0.99, gae=1.0)
    flat = lambda x: jnp.asarray(x, jnp.float32).reshape(STEPS * ENVS, -1)
    params = networks.Policy(
        tuple(map(Layer, map(jnp.asarray, actor.weights), map(jnp.asarray, actor.biases))),
        jnp.asarray(actor.log_std),
    )
    x = normalize(flat(seen), actor.mean, actor.scale)
    log_prob = networks.act(params, x).log_prob(flat(action))
    advantage = standardise(flat(returns)[:, 0])
    return params, Samples(
        x, flat(action), log_prob, advantage, advantage[:, None], jnp.ones_like(advantage)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", help="a run's folder: any task, any algorithm of the TRPO family")
    run = parser.parse_args().run
    compiling.prepare()  # as a training does: other threads and instructions take another time
    params, samples = batch(run)
    assert params.log_std is not None  # as `batch` has seen
    damping = DAMPING * len(params.log_std)
    g = jax.jit(jax.grad(surrogate(samples, samples.reward_advantage)))(params)
    exact = FisherSolver(damping, iterations=300, tolerance=1e-6, thinning=1)
    truth = jax.jit(lambda g: exact.metric(samples, params).solve(g).x)(g)
    energy = jax.jit(lambda v: dot(v, exact.metric(samples, params).apply(v)))

    table = Table("one state in", "tolerance", "ms", "products", "residual", "error")
    for thinning, tolerance in ((1, 1e-3), (5, 0.02), (10, 0.02), (20, 0.02), (10, 1e-3)):
        solver = FisherSolver(damping, tolerance=tolerance, thinning=thinning)
        solve = jax.jit(lambda g, solver=solver: solver.metric(samples, params).solve(g))
        seconds = []
        for _ in range(REPEATS + 1):
            begin = time.perf_counter()
            found = jax.block_until_ready(solve(g))
            seconds.append(time.perf_counter() - begin)
        error = jnp.sqrt(energy(add(found.x, truth, -1.0)) / energy(truth))
        table.add_row(
            f"{thinning}", f"{tolerance:g}", f"{1000 * statistics.median(seconds[1:]):.0f}",
            f"{found.iterations}", f"{norm(found.residual) / norm(g):.4f}", f"{error:.4f}",
        )  # fmt: skip
    Console().print(table)


if __name__ == "__main__":
    main()
