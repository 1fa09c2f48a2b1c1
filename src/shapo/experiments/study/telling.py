"""The study in words: what each arm reached, and what that says of each claim, as rows of text for screen and page."""

from collections.abc import Callable, Sequence

import numpy as np

from shapo.experiments.statistics import standard_error
from shapo.experiments.study.plan import Block, runs_of
from shapo.experiments.study.verdicts import judged
from shapo.runs.folder import Run

Row = tuple[str, ...]

VERDICTS: Row = ("arm", "against", "by", "means", "difference [95 %]", "p", "seeds", "verdict")
ARMS: Row = ("arm", "seeds", "return", "cost", "cost rate", "cost p95", "falls")
_MEASURED: tuple[tuple[Callable[[Run], float], str], ...] = (
    (lambda run: run.history.final("reward/episode"), ".1f"),
    (lambda run: run.history.final("cost/episode"), ".2f"),
    (lambda run: run.history.last("cost/rate"), ".5f"),
    (lambda run: run.history.final("cost/p95"), ".1f"),
    (lambda run: run.history.last("termination/total"), ",.0f"),
)
"""As in the headings of `ARMS`, from the third on."""


def title(block: Block, runs: Sequence[Run]) -> str:
    """How much of a block is there."""
    there = sum(len(within(block, arm, runs)) for arm in block.arms)
    return f"{block.name}: {there} of {len(block.arms) * block.seeds} runs"


def arms(block: Block, runs: Sequence[Run]) -> list[Row]:
    """A row per arm that has finished runs: means ± standard errors over its seeds."""
    rows = []
    for name in block.arms:
        found = within(block, name, runs)
        if found:
            columns = ([measure(run) for run in found] for measure, _ in _MEASURED)
            numbers = map(_mean, columns, (form for _, form in _MEASURED))
            rows.append((name, str(len(found)), *numbers))
    return rows


def verdicts(block: Block, runs: Sequence[Run]) -> list[Row]:
    """A row per comparison for which there are seeds enough."""
    rows = []
    for found in judged(block, runs):
        contrast, (estimate, low, high) = found.contrast, found.difference
        rows.append((
            contrast.ours, contrast.theirs, contrast.metric.name,
            f"{found.ours.mean():.4g}, {found.theirs.mean():.4g}",
            f"{estimate:+.3g} [{low:+.3g}, {high:+.3g}]", f"{found.p:.3f}",
            f"{len(found.ours)}{' paired' if found.paired else ''}", found.verdict,
        ))  # fmt: skip
    return rows


def within(block: Block, arm: str, runs: Sequence[Run]) -> list[Run]:
    """The finished runs of one of a block's arms, by seed."""
    by_seed = runs_of(block.arms[arm], runs)
    return [run for seed, run in sorted(by_seed.items()) if seed < block.seeds]


def _mean(values: Sequence[float], form: str) -> str:
    if not np.isfinite(values).all():
        return "–"
    mean = f"{np.mean(values):{form}}"
    return f"{mean} ± {standard_error(values):{form}}" if len(values) > 1 else mean
