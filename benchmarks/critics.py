"""How far fitting the critics is from bare arithmetic: 20,000 × 60 observations, [64, 64] networks, both critics.

    OPENBLAS_NUM_THREADS=1 python benchmarks/critics.py

Beside each fit NumPy does nothing but the matrix products that it cannot do without, a thread for each critic: no
tanh, no Adam, no shuffling. The two alternate in one run; medians, and their ratio.
"""

import argparse
import itertools
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from rich.console import Console
from rich.table import Table

from shapo.learning import compiling
from shapo.rules import networks
from shapo.rules.critics import Critics
from shapo.rules.gradients import Plain, Sam
from shapo.types import Progress

ROWS, SIZES, CRITICS = 20_000, (60, 64, 64, 1), 2


def products(rows: int) -> Callable[[], None]:
    """The matrix products of one gradient of one critic: forward, and back to all but the observations."""
    rng = np.random.default_rng(0)
    draw = lambda *shape: rng.normal(size=shape).astype(np.float32)
    layers = list(itertools.pairwise(SIZES))
    forward = [(draw(rows, n), draw(n, m), draw(rows, m)) for n, m in layers]
    to_weights = [(draw(n, rows), draw(rows, m), draw(n, m)) for n, m in layers]
    to_inputs = [(draw(rows, m), draw(m, n), draw(rows, n)) for n, m in layers[1:]]

    def multiply() -> None:
        for a, b, out in (*forward, *to_weights, *to_inputs):
            np.dot(a, b, out=out)

    return multiply


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=11)
    repeats = parser.parse_args().repeats

    compiling.prepare()
    rng = np.random.default_rng(0)
    obs = rng.normal(size=(ROWS, SIZES[0])).astype(np.float32)
    targets = [rng.normal(size=ROWS).astype(np.float32) for _ in range(CRITICS)]
    progress = Progress(*(np.float32(1) for _ in Progress._fields))
    table = Table("critics", "fit, s", "products alone, s", "ratio")
    for name, gradient, slopes in (("plain", Plain(), 1), ("SAM", Sam(0.01), 2)):
        rule = Critics(gradient)
        start = [rule.init(networks.init_critic(rng, SIZES[0], SIZES[1:-1])) for _ in targets]
        # Arrays of NumPy, which every fit converts: the published numbers hold that, some 4 %.
        fit = lambda rule=rule, start=start: rule.fit(start, obs, targets, (0,), progress)  # pyright: ignore[reportArgumentType]
        times = rule.epochs * (ROWS // rule.minibatch) * slopes
        bare = [products(rule.minibatch) for _ in targets]

        def multiply(bare=bare, times=times) -> None:
            with ThreadPoolExecutor(CRITICS) as threads:
                list(threads.map(lambda one: [one() for _ in range(times)], bare))

        fit()  # compiles
        found = [(seconds(fit), seconds(multiply)) for _ in range(repeats)]
        ours, theirs = (statistics.median(each) for each in zip(*found, strict=True))
        table.add_row(name, f"{ours:.3f}", f"{theirs:.3f}", f"{ours / theirs:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
