"""The study in words: what each arm reached, and what that says of each claim, as rows of text for screen and page."""

from collections.abc import Sequence

import numpy as np

from shapo.experiments.quantities import (
    COSINE,
    COST,
    COST_P80,
    COST_P95,
    COST_RATE,
    FALLS,
    RETURN,
    RETURN_ALL_ALONG,
    Quantity,
)
from shapo.experiments.statistics import in_pairs, standard_error
from shapo.experiments.study.judging import Judgement, judgements, worded
from shapo.experiments.study.plan import blocks
from shapo.experiments.study.questions import Block
from shapo.experiments.study.verdicts import Finding, judged
from shapo.runs.folder import Run

Row = tuple[str, ...]

CLAIMED: Row = ("claim", "verdict", "difference of means [95 %]", "seeds", "said by", "shown by")
VERDICTS: Row = ("arm", "against", "by", "means", "difference [95 %]", "p", "seeds", "verdict")
MEASURED: tuple[tuple[Quantity, str], ...] = (
    (RETURN, ".1f"),
    (RETURN_ALL_ALONG, ".1f"),
    (COST, ".2f"),
    (COST_P80, ".1f"),
    (COST_P95, ".1f"),
    (COST_RATE, ".5f"),
    (FALLS, ",.0f"),
    (COSINE, ".4f"),
)
"""What is told of each arm, and how it is written."""
ARMS: Row = ("arm", "seeds", *(quantity.name for quantity, _ in MEASURED))


def claims(runs: Sequence[Run]) -> list[Row]:
    """A row per claim; each of its differences has a line of its own."""
    return [
        (
            each.claim.text, each.verdict,
            "\n".join(f"{what}: {difference(found)}" for what, found in compared(each)) or each.foreseen,
            ", ".join(dict.fromkeys(map(_seeds, each.findings))) or "–", each.claim.said_by, each.command,
        )
        for each in judgements(runs)
    ]  # fmt: skip


def compared(judgement: Judgement) -> list[tuple[str, Finding]]:
    """What was compared with what, and by which number if that is not the same for all; and what came out."""
    several = len({found.contrast.criterion for found in judgement.findings}) > 1
    return [
        (
            (f"{found.contrast.criterion.quantity.name}, " if several else "")
            + f"{found.contrast.title} − {found.contrast.theirs}",
            found,
        )
        for found in judgement.findings
    ]


def effort(runs: Sequence[Run]) -> str:
    """How much of the plan has been run, and what that took."""
    wanted = {each.essence() for block in blocks(runs) for each in block.experiments()}
    found = {run.experiment.essence(): run for run in runs if run.finished}
    done = [run for essence, run in found.items() if essence in wanted]
    steps = sum(run.history.steps for run in done) / 1e6
    hours = sum(run.history.last("time/seconds") for run in done) / 3600
    return (
        f"{len(done)} of {len(wanted)} runs, {steps:,.0f}M steps in {hours:.1f} hours, "
        "added up over runs"
    )


def title(block: Block, runs: Sequence[Run]) -> str:
    """How much of a block is there, and how it is compared if not as most are."""
    there = sum(len(block.found(arm, runs)) for arm in block.arms)
    how = ", in pairs of one seed" if block.comparison is in_pairs else ""
    return f"{block.name}: {there} of {len(block.arms) * len(block.seeds)} runs{how}"


def arms(block: Block, runs: Sequence[Run]) -> list[Row]:
    """A row per arm that has finished runs: means ± standard errors over its seeds."""
    rows = []
    for name in block.arms:
        found = block.found(name, runs)
        if found:
            numbers = (_mean([what.of(run) for run in found], form) for what, form in MEASURED)
            rows.append((name, str(len(found)), *numbers))
    return rows


def verdicts(block: Block, runs: Sequence[Run]) -> list[Row]:
    """A row per comparison for which there are seeds enough."""
    rows = []
    for found in judged(block, runs):
        later = found.contrast in block.asked_later
        contrast, form = found.contrast, found.contrast.criterion.form
        rows.append((
            contrast.title, contrast.theirs, contrast.criterion.quantity.name,
            ", ".join(f"{mean:{form}}" for mean in found.means),
            difference(found), "< 0.001" if found.p < 5e-4 else f"{found.p:.3f}",
            _seeds(found), worded(found.verdict, later),
        ))  # fmt: skip
    return rows


def difference(found: Finding) -> str:
    """With its 95 % interval."""
    estimate, low, high = (f"{x:+z{found.contrast.criterion.form}}" for x in found.difference)
    return f"{estimate} [{low}, {high}]"


def _seeds(found: Finding) -> str:
    return f"{found.seeds} of {found.planned}" if found.seeds < found.planned else str(found.seeds)


def _mean(values: Sequence[float], form: str) -> str:
    if not np.isfinite(values).all():
        return "–"
    mean = f"{np.mean(values):{form}}"
    return f"{mean} ± {standard_error(values):{form}}" if len(values) > 1 else mean
