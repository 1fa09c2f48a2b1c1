"""How long learning from one batch takes: 20,000 × 60 observations, [64, 64] networks.

    python benchmarks/update.py

Prints seconds (the median of several updates) and the ratio of SHAPO to plain, measured alternately in one run.
The batch has the correlations of a real one: it is made by rolling a random linear system forward.
"""

import argparse
import statistics
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from shapo.experiment import Experiment
from shapo.learning import compiling
from shapo.learning.learner import Learner
from shapo.types import Batch

STEPS, ENVS, OBS, ACT = 1000, 20, 60, 2


def batch(seed: int) -> Batch:
    rng = np.random.default_rng(seed)
    action = rng.normal(size=(STEPS, ENVS, ACT))
    drive = 0.3 * rng.normal(size=(ACT, OBS))
    obs = np.zeros((STEPS + 1, ENVS, OBS))
    for t in range(STEPS):
        obs[t + 1] = 0.97 * obs[t] + action[t] @ drive + 0.3 * rng.normal(size=(ENVS, OBS))
    reward = -np.abs(obs[1:, :, 0] - obs[1:, :, 1]) / 10
    cost = (obs[1:, :, 2:3] > 1.5).astype(float)
    truncated = np.zeros((STEPS, ENVS), bool)
    truncated[-1] = True
    single = lambda x: x.astype(np.float32)
    return Batch(
        single(obs[:-1]), single(obs[1:]), single(action), single(reward), single(cost),
        np.zeros_like(truncated), truncated,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--algo", default="trpo-pid")
    options = parser.parse_args()
    repeats, algo = options.repeats, options.algo
    compiling.prepare()  # as a training does: other threads and instructions take another time

    batches = [batch(seed) for seed in range(4)]
    variants = {
        "plain": Experiment(algo=algo),
        "shapo": Experiment(algo=algo, gradient="shapo", critic_gradient="sam"),
    }
    learners = {name: Learner.build(e, OBS, ACT) for name, e in variants.items()}
    states = {name: l.init(0) for name, l in learners.items()}
    seconds = {(name, part): [] for name in variants for part in ("actor", "critics")}
    metrics = {}
    for repeat in range(repeats + 2):  # the first two compile and warm up
        for name, learner in learners.items():
            begin = time.perf_counter()
            state, todo, metrics[name] = learner.improve(
                states[name], batches[repeat % 4], [12.0], STEPS
            )
            middle = time.perf_counter()
            states[name], _ = learner.fit(state, todo)
            end = time.perf_counter()
            if repeat >= 2:
                seconds[name, "actor"].append(middle - begin)
                seconds[name, "critics"].append(end - middle)

    table = Table(
        "part",
        "plain, s",
        "shapo, s",
        "ratio",
        title=f"{algo}, one batch of {STEPS * ENVS:,} steps",
    )
    for part in ("actor", "critics"):
        plain, shapo = (statistics.median(seconds[name, part]) for name in variants)
        table.add_row(part, f"{plain:.3f}", f"{shapo:.3f}", f"{shapo / plain:.2f}")
    residuals = [f"{metrics[name].get('policy/residual', float('nan')):.1e}" for name in variants]
    table.add_row("CG residual", *residuals, "")
    iterations = [
        f"{metrics[name].get('policy/cg_iterations', float('nan')):.0f}" for name in variants
    ]
    table.add_row("CG iterations (last solve)", *iterations, "")
    Console().print(table)


if __name__ == "__main__":
    main()
