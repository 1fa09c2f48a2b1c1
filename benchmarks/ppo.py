"""How long PPO's and SHAPO-PPO's minibatches take: 20,000 × 60 observations, two actions, [64, 64] networks.

    python benchmarks/ppo.py
    python benchmarks/ppo.py --before ELSEWHERE/src

Prints microseconds per minibatch (the median of several updates; epochs' own work included) and ratios, measured
alternately in one process. `--before` takes the sources of another version of shapo to compare with.
"""

import argparse
import importlib
import itertools
import statistics
import sys
import time
import warnings
from pathlib import Path

import jax
import numpy as np
from rich.console import Console
from rich.table import Table

from shapo.learning import compiling

HERE = Path(__file__).parents[1] / "src"
ROWS, OBS, HIDDEN, SIZE = 20_000, 60, (64, 64), 64


def package(source: Path, *names: str):
    """Modules of the shapo that lies in `source`; one that was imported before stays alive in who uses it."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "shapo"]:
        del sys.modules[name]
    warnings.filterwarnings("ignore", ".*Overriding environment")  # Gymnasium knows the ids already
    sys.path.insert(0, str(source))
    found = [importlib.import_module(f"shapo.{name}") for name in names]
    sys.path.pop(0)
    if all(Path(module.__file__ or "").is_relative_to(source) for module in found):
        return found
    raise SystemExit(f"there is no shapo in {source}; give the folder that holds the package")


def updates(source: Path, epochs: int, actions: int):
    """(gradient rule, compiled update of one batch, what it takes), as the shapo in `source` has it."""
    algorithms, gradients, networks, surrogates, steps, types = package(
        source, "algorithms", "rules.gradients", "rules.networks", "rules.surrogates", "rules.steps", "types",
    )  # fmt: skip
    rng = np.random.default_rng(0)
    params = networks.init_policy(np.random.default_rng(0), OBS, HIDDEN, actions)
    obs = rng.normal(size=(ROWS, OBS)).astype(np.float32)
    pi = networks.act(params, obs)
    noise = rng.normal(size=(ROWS, actions)).astype(np.float32)
    action, log_prob = pi.mean + noise, -(noise**2 + np.log(2 * np.pi)).sum(1) / 2
    advantage = np.asarray(action[:, 0] * obs[:, 0] + rng.normal(size=ROWS), np.float32)
    arrays = {
        "obs": obs, "action": action, "log_prob": log_prob.astype(np.float32), "reward_advantage": advantage,
        "cost_advantage": advantage[:, None], "side": np.ones_like(advantage),
    }  # fmt: skip
    samples = surrogates.Samples(
        **{f: jax.device_put(arrays[f]) for f in surrogates.Samples._fields}
    )
    one = np.float32(1.0)
    progress = types.Progress(one, one, one, np.ones(1, np.float32), one, one)
    solver = steps.FisherSolver(0.1 * actions, iterations=10, tolerance=0.05, thinning=1)
    for rule in (gradients.Plain(), gradients.Shapo(1e-4 * actions)):
        algorithm = algorithms.ppo(
            gradient=rule, epochs=epochs, minibatch=SIZE, stop_kl=1e9, solver=solver
        )
        arguments = params, algorithm.init(params), samples, progress, jax.random.PRNGKey(1)
        yield type(rule).__name__, jax.jit(algorithm.update).lower(*arguments).compile(), arguments


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="the sources of another shapo")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--actions", type=int, default=2)
    options = parser.parse_args()
    compiling.prepare()

    versions = {"now": HERE} | ({"before": options.before.resolve()} if options.before else {})
    programs = {
        (rule, version): (update, arguments)
        for version, source in versions.items()
        for rule, update, arguments in updates(source, options.epochs, options.actions)
    }
    seconds = {name: [] for name in programs}
    for repeat, name in itertools.product(range(options.repeats + 1), programs):
        update, arguments = programs[name]
        begin = time.perf_counter()
        jax.block_until_ready(update(*arguments))
        if repeat:  # the first warms up
            seconds[name].append(time.perf_counter() - begin)

    steps = options.epochs * (ROWS // SIZE)
    cost = {name: 1e6 * statistics.median(found) / steps for name, found in seconds.items()}
    title = f"microseconds per minibatch of {SIZE}, {options.actions} actions"
    table = Table("", "PPO", "SHAPO-PPO", "ratio", title=title)
    for version in versions:
        plain, shapo = cost["Plain", version], cost["Shapo", version]
        table.add_row(version, f"{plain:.0f}", f"{shapo:.0f}", f"{shapo / plain:.2f}")
    if options.before:
        gains = [cost[rule, "before"] / cost[rule, "now"] for rule in ("Plain", "Shapo")]
        table.add_row("before / now", *(f"{gain:.2f}" for gain in gains), "")
    Console().print(table)


if __name__ == "__main__":
    main()
