"""What the data say about a block's contrasts: differences with intervals, corrected p values, and a word for each."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.experiment import Experiment
from shapo.experiments.statistics import (
    Interval,
    apart,
    foreseen_reach,
    weighted_means,
)
from shapo.experiments.study.questions import Block, Contrast, runs_of
from shapo.runs.folder import Run

LEVEL = 0.05
FEWEST_SEEDS = 3

Verdict = Literal["holds", "holds partly", "does not hold", "undecided", "open"]


class Finding(NamedTuple):
    """One contrast, judged."""

    contrast: Contrast
    means: tuple[float, float]
    """Ours and theirs."""
    seeds: int
    """Of each arm."""
    planned: int
    """Seeds, of each arm."""
    difference: Interval
    """Of the means, ours − theirs, with Student's 95 % interval: a bootstrap of five seeds covers 88 %."""
    p: float
    """Of the t test, Holm's correction applied."""
    alone: float
    """The same without correction."""

    @property
    def verdict(self) -> Verdict:
        """Whether ours is better, cannot be better by what would matter, or neither is shown.

        Open until every seed is there: who judges after each of the last three, and stops where they please, calls 8 %
        of equal arms different.
        """
        if self.seeds < self.planned:
            return "open"
        criterion = self.contrast.criterion
        if self.p < LEVEL and criterion.sign * self.difference.estimate > 0:
            return "holds"
        best = max(criterion.sign * self.difference.low, criterion.sign * self.difference.high)
        return "does not hold" if best < criterion.matters(self.means[1]) else "undecided"


def judged(block: Block, runs: Sequence[Run]) -> list[Finding]:
    """The block's contrasts for which there are enough seeds."""
    return [found for family in block.families for found in _judged(family, block, runs)]


def _judged(family: Sequence[Contrast], block: Block, runs: Sequence[Run]) -> list[Finding]:
    found = []
    for contrast in family:
        sides = [[runs_of(block.arms[name], runs) for name in names] for names in contrast.arms]
        seeds = {
            seed for seed in block.seeds if all(seed in each for pair in sides for each in pair)
        }
        if len(seeds) >= FEWEST_SEEDS:
            value = contrast.criterion.quantity.of
            numbers = [
                [np.array([value(each[seed]) for seed in sorted(seeds)]) for each in pair]
                for pair in sides
            ]
            found.append(_compared(block, contrast, numbers))
    missing = [1.0] * (len(family) - len(found))  # what is not run yet counts: it was planned
    corrected = holm([*(finding.p for finding in found), *missing])
    return [each._replace(p=p) for each, p in zip(found, corrected, strict=False)]


def foreseen(block: Block, contrast: Contrast, runs: Sequence[Run]) -> float:
    """How far an interval will reach once all seeds are there, if they scatter like the runs there are so far.

    Only runs of the same tasks and algorithms are looked at. NaN if no arm has two seeds yet, or if runs will be
    compared in pairs: how single runs scatter says nothing of how their differences do.
    """
    if block.comparison is not apart:
        return float("nan")
    alike = {_kind(block.arms[ours]) for ours, _ in contrast.arms}
    spread = _spread(contrast, [run for run in runs if _kind(run.experiment) in alike])
    return foreseen_reach(spread, len(block.seeds), len(contrast.arms))


def _kind(experiment: Experiment) -> tuple[str, str]:
    return experiment.env, experiment.algo


def _spread(contrast: Contrast, runs: Sequence[Run]) -> float:
    """Standard deviation between seeds, pooled over all arms that have several; NaN if none has."""
    arms = {run.experiment.essence("seed"): run.experiment for run in runs if run.finished}
    value = contrast.criterion.quantity.of
    numbers = [[value(run) for run in runs_of(arm, runs).values()] for arm in arms.values()]
    several = [np.array(each) for each in numbers if len(each) > 1]
    if not several:
        return float("nan")
    squares = sum(float(((each - each.mean()) ** 2).sum()) for each in several)
    return math.sqrt(squares / sum(len(each) - 1 for each in several))


def verdict_on(findings: Sequence[Finding], planned: int) -> Verdict | None:
    """What several contrasts say together of the claim that they test; None if there are none.

    Open until all that were `planned` are there. One that holds alone must do so among all of the claim, too: of six in
    three blocks, each corrected for itself, one would by chance in 7 of 100 studies.
    """
    found: set[Verdict] = {each.verdict for each in findings}
    right = [each.contrast.criterion.sign * each.difference.estimate > 0 for each in findings]
    if not found:
        return None
    if "open" in found or len(findings) < planned:
        return "open"
    if len(found) == 1:
        return found.pop()
    among = holm([each.alone for each in findings])
    holds = any(
        each.verdict == "holds" and p < LEVEL for each, p in zip(findings, among, strict=True)
    )
    return "holds partly" if holds and np.mean(right) > 0.5 else "undecided"


def holm(p: Sequence[float]) -> list[float]:
    """Holm's correction: the smallest of m p values times m, the next times m − 1, …, never below the one before."""
    order = np.argsort(p)
    scaled = np.array(p)[order] * np.arange(len(p), 0, -1)
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(scaled))
    return corrected.tolist()


def _compared(block: Block, contrast: Contrast, numbers: Sequence[Sequence[NDArray]]) -> Finding:
    """Of each kind of run ours and theirs, a number per seed; kinds weigh the same."""
    share = 1 / len(numbers)
    samples = [
        (share * weight, values) for pair in numbers for weight, values in block.comparison(*pair)
    ]
    ours, theirs = (float(np.mean(side)) for side in zip(*numbers, strict=True))
    seeds = len(numbers[0][0])
    difference, p = weighted_means(samples)
    return Finding(contrast, (ours, theirs), seeds, len(block.seeds), difference, p, alone=p)
