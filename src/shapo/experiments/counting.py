"""Which runs may be averaged. Every table and every picture asks here.

A group is one experiment up to its seed, its length included. A seed counts once. Runs that have not come as far as the
others of their group are not averaged with them, nor are those that were begun for another length where that matters.
Whatever is left out is named, so that it can be said.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from shapo.runs.folder import Run
from shapo.runs.resuming import depends_on_length
from shapo.words import steps_text


class LeftOut(NamedTuple):
    """A run that is in no mean."""

    run: Run
    kind: Literal["shorter", "of another length", "second of its seed"]
    reason: str
    """The same in a sentence's end."""


class Counted(NamedTuple):
    """What may be averaged of the runs of one group."""

    runs: list[Run]
    """One per seed, by seed, all equally long."""
    left_out: list[LeftOut]


def counted(runs: Iterable[Run]) -> Counted:
    """Of the runs of one experiment, the longest of each seed, as far as they have all come equally far."""
    runs, left_out = _one_length(runs)
    by_seed: dict[int, Run] = {}
    # Of two that are equally long, the one that was meant to be: a longer one may have been cut to this length.
    for run in sorted(runs, key=lambda run: (-run.history.steps, run.experiment.steps, run.folder)):
        first = by_seed.setdefault(run.experiment.seed, run)
        if first is not run:
            reason = f"seed {run.experiment.seed} counts once, in {first.folder.name}"
            left_out.append(LeftOut(run, "second of its seed", reason))
    longest = max((run.history.steps for run in by_seed.values()), default=0)
    for seed, run in list(by_seed.items()):
        if run.history.steps < longest:
            reason = f"{steps_text(run.history.steps)} steps, others have {steps_text(longest)}"
            left_out.append(LeftOut(by_seed.pop(seed), "shorter", reason))
    return Counted([by_seed[seed] for seed in sorted(by_seed)], left_out)


def _one_length(runs: Iterable[Run]) -> tuple[list[Run], list[LeftOut]]:
    """Without those that were begun for fewer steps, if that matters and there are others to average."""
    runs = list(runs)
    why = depends_on_length(runs[0].experiment) if runs else ""
    whole = [run for run in runs if not (why and run.extended)]
    if not whole:
        return runs, []
    extended = [
        LeftOut(run, "of another length", f"it was begun for fewer steps, and {why}")
        for run in runs
        if run not in whole
    ]
    return whole, extended
