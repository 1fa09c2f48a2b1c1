"""Run folders with known contents, written without training anything."""

import csv
import dataclasses
import importlib.metadata
import json
from pathlib import Path

import numpy as np

from shapo.experiment import Experiment

VERSION = importlib.metadata.version("shapo")


def write_run(
    folder: Path,
    experiment: Experiment,
    iterations: int | None = None,
    version: str = VERSION,
    skill: float = 1.0,
    seed: int | None = None,
) -> Path:
    """A run whose return saturates at 20 x `skill` and whose cost falls towards its limit."""
    rng = np.random.default_rng(experiment.seed if seed is None else seed)
    folder.mkdir(parents=True)
    choices = dataclasses.asdict(experiment)
    config = {"version": version, "experiment": choices}
    (folder / "config.json").write_text(json.dumps(config))
    count = experiment.iterations if iterations is None else iterations
    rows = _progress(experiment, count, skill, rng)
    _write_csv(folder / "progress.csv", rows)
    _write_csv(folder / "episodes.csv", _episodes(rows, rng))
    return folder


def _progress(experiment: Experiment, count: int, skill: float, rng) -> dict[str, np.ndarray]:
    iteration = np.arange(count)
    done = (iteration + 1) / max(experiment.iterations, 1)
    noise = rng.normal(size=(3, count))
    cost = experiment.cost_limit[0] + 40 * np.exp(-4 * done) / skill + np.abs(noise[1])
    steps = (iteration + 1) * experiment.batch_steps
    total = np.cumsum(cost * experiment.num_envs)
    shapo = experiment.gradient == "shapo"
    return {
        "iteration": iteration,
        "steps": steps,
        "episodes": (iteration + 1) * experiment.num_envs,
        "reward/episode": 20 * skill * (1 - np.exp(-3 * done)) + 0.5 * noise[0],
        "cost/episode": cost,
        "cost/limit": np.full(count, experiment.cost_limit[0]),
        "cost/rate": total / steps,
        "cost/total": total,
        "cost/p80": cost * 1.4,
        "cost/p95": cost * 2,
        "episode/length": np.full(count, 1000),
        "termination/total": iteration * 3,
        "termination/rate": iteration * 3 / ((iteration + 1) * experiment.num_envs),
        "policy/kl": np.full(count, 0.009),
        "policy/fraction": np.ones(count),
        "policy/multiplier": 0.4 * np.exp(-done) + 0.01 * np.abs(noise[2]),
        **(_gradient(experiment.pessimism, done) if shapo else {}),
        "time/actor": np.full(count, 0.2 if shapo else 0.1),
        "time/critics": np.full(count, 0.2),
        "time/seconds": (iteration + 1) * experiment.batch_steps / 20_000,
        "time/steps_per_second": np.full(count, 20_000.0),
    }


def _gradient(radius: float, done: np.ndarray) -> dict[str, np.ndarray]:
    """What SHAPO records, and a plain run does not."""
    return {
        "gradient/kl": np.full(len(done), radius),
        "gradient/cosine": np.full(len(done), 0.97),
        "gradient/alpha": np.exp(-5 * done) / 2,
        "gradient/distance": np.full(len(done), radius**0.5),
    }


def _episodes(rows: dict[str, np.ndarray], rng, each: int = 4) -> dict[str, np.ndarray]:
    """So many of every iteration, around its means."""
    iteration, env = (x.ravel() for x in np.indices((len(rows["iteration"]), each)))
    return {
        "iteration": iteration,
        "steps": rows["steps"][iteration],
        "env": env,
        "return": rng.normal(rows["reward/episode"][iteration], 2).round(3),
        "cost": rng.poisson(rows["cost/episode"][iteration]),
        "length": np.full(len(env), 1000),
        "terminated": np.where(env == 0, 1, 0),
    }


def _write_csv(path: Path, columns: dict[str, np.ndarray]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
