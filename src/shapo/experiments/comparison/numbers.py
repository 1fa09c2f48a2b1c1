"""What is compared: a few numbers of each run, and each arm's difference from another, seed by seed."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shapo.experiment import Experiment
from shapo.experiments.groups import Group, baseline_of
from shapo.experiments.quantities import (
    COST,
    COST_P95,
    COST_RATE,
    RETURN,
    TOTAL_COST,
    Quantity,
    numbered,
)
from shapo.experiments.statistics import Interval, paired_difference
from shapo.words import steps_text

COSTS = (COST, COST_RATE, TOTAL_COST, COST_P95)


def of_costs(experiment: Experiment) -> list[tuple[Quantity, ...]]:
    """Of each cost: per episode in the end, per step and in all over the whole training, and its tail."""
    count = len(experiment.cost_limit)
    if count == 1:
        return [COSTS]
    return [tuple(numbered(each, i) for each in COSTS) for i in range(1, count + 1)]


def quantities(arms: Sequence[Group]) -> list[Quantity]:
    """All that is compared."""
    return [RETURN, *itertools.chain(*of_costs(arms[0].experiment))]


def values(arm: Group, quantity: Quantity) -> NDArray[np.float64]:
    """One number per run, by seed."""
    return np.array([quantity.of(run) for run in arm.runs])


def pairs(arms: Sequence[Group]) -> list[tuple[Group, Group]]:
    """Each arm but the first, and with what it is compared: the same without its gradient rule, or else the first."""
    return [(arm, baseline_of(arm, arms)[0] or arms[0]) for arm in arms[1:]]


def difference(arm: Group, base: Group, quantity: Quantity) -> Interval | None:
    """Over the seeds where both are known; None if there is none."""
    ours, theirs = (_by_seed(each, quantity) for each in (arm, base))
    seeds = sorted(ours.keys() & theirs.keys())
    if not seeds:
        return None
    return paired_difference([ours[seed] for seed in seeds], [theirs[seed] for seed in seeds])


def _by_seed(arm: Group, quantity: Quantity) -> dict[int, float]:
    found = {seed: quantity.of(run) for seed, run in arm.by_seed.items()}
    return {seed: value for seed, value in found.items() if math.isfinite(value)}


def summary(arms: Sequence[Group]) -> dict[str, object]:
    """The same numbers for a machine; what is missing or says nothing is None."""
    others = [_summary(arm, base) for arm, base in pairs(arms)]
    return {"env": arms[0].env, "arms": [_summary(arms[0], None), *others]}


def _summary(arm: Group, base: Group | None) -> dict[str, object]:
    found: dict[str, object] = {
        "name": arm.label,
        "seeds": list(arm.by_seed),
        "values": {
            what.name: [_finite(value) for value in values(arm, what)] for what in quantities([arm])
        },
    }
    if base:
        found["base"] = base.label
        differences = {what.name: difference(arm, base, what) for what in quantities([arm])}
        found["difference"] = {
            name: interval and {key: _finite(x) for key, x in interval._asdict().items()}
            for name, interval in differences.items()
        }
    return found


def notes(arms: Sequence[Group]) -> list[str]:
    """A line about each number or run that is not there, and why."""
    lines = [
        f"left out: {arm.label}, {left.run.folder.name}: {left.reason}"
        for arm in arms
        for left in arm.left_out
    ]
    for arm in arms:
        for run in arm.runs:
            empty = [what.name for what in quantities([arm]) if not np.isfinite(what.of(run))]
            if empty:
                seed = f"{arm.label}, seed {run.experiment.seed}"
                lines.append(f"{seed}: no {' or '.join(empty)}, for no episode ended")
    if len({arm.steps for arm in arms}) > 1:
        far = ", ".join(f"{arm.label} ({steps_text(arm.steps)})" for arm in arms)
        lines.append(f"not equally long, in steps: {far}")
    lines += [
        f"{arm.label} and {base.label} have no seed in common, so no difference is made of them"
        for arm, base in pairs(arms)
        if not arm.by_seed.keys() & base.by_seed.keys()
    ]
    return lines


def title(arms: Sequence[Group]) -> str:
    """What all arms have in common."""
    algos = {arm.experiment.algo for arm in arms}
    lengths = {f"{steps_text(arm.steps)} steps" for arm in arms}
    counts = sorted({len(arm.runs) for arm in arms})
    seeds = "1 seed" if counts == [1] else f"{'–'.join(map(str, counts))} seeds"
    common = [each for (each, *others) in (algos, lengths) if not others]
    return ", ".join([arms[0].env, *common, seeds])


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
