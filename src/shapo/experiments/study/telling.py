"""The study in words: what each arm reached, and what that says of each claim, as rows of text for screen and page."""

import math
from collections.abc import Sequence

import numpy as np

from shapo.experiments.figures.figure import at_radius
from shapo.experiments.figures.registry import FIGURES
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
from shapo.experiments.statistics import standard_error
from shapo.experiments.study.plan import blocks, chosen_radius
from shapo.experiments.study.questions import CLAIMS, Block, Claim, Contrast, runs_of
from shapo.experiments.study.verdicts import Finding, foreseen, judged, verdict_on
from shapo.runs.folder import Run
from shapo.words import radius_text

Row = tuple[str, ...]

CLAIMED: Row = ("the paper says", "difference of means [95 %]", "seeds", "verdict", "shown by")
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


def begun(runs: Sequence[Run]) -> list[Block]:
    """The blocks that have finished runs of their own."""
    found: dict[str, Block] = {}
    seen = set()
    for block in blocks(runs):
        own = {run.folder for arm in block.arms for run in within(block, arm, runs)}
        if own - seen:
            found[block.name] = block
        seen |= own
    return list(found.values())


def claims(runs: Sequence[Run]) -> list[Row]:
    """A row per claim of the paper: what its contrasts found, in the order of the claims."""
    findings = [found for block in begun(runs) for found in judged(block, runs)]
    # Of the flagship, which is planned twice, the one with all its seeds.
    planned = list({block.name: block for block in blocks(runs)}.values())
    radius, rows = chosen_radius(runs), []
    for claim in CLAIMS:
        own = [found for found in findings if found.contrast.claim is claim]
        rows.append((
            claim.text, "; ".join(_differences(own)) or _foreseen(claim, planned, runs),
            ", ".join(dict.fromkeys(map(_seeds, own))) or "–", _verdict(claim, own, planned, runs),
            _shown_by(claim, planned, radius),
        ))  # fmt: skip
    return rows


def _verdict(
    claim: Claim, findings: Sequence[Finding], planned: Sequence[Block], runs: Sequence[Run]
) -> str:
    asked = len(_tests_of(claim, planned))
    verdict = verdict_on(findings, asked) or _waiting(claim, planned, runs)
    few = verdict == "open" and len(findings) < asked
    return f"open: {len(findings)} of {asked} comparisons" if few else verdict


def _differences(findings: Sequence[Finding]) -> list[str]:
    """Each with its arms, and with what it is a difference of if that is not the same for all."""
    several = len({found.contrast.criterion for found in findings}) > 1
    return [
        (f"{found.contrast.criterion.quantity.name}, " if several else "")
        + f"{found.contrast.title} − {found.contrast.theirs}: {_difference(found)}"
        for found in findings
    ]


def _tests_of(claim: Claim, planned: Sequence[Block]) -> list[tuple[Block, Contrast]]:
    """The contrasts that test a claim, each with its block."""
    return [
        (block, contrast)
        for block in planned
        for family in block.families
        for contrast in family
        if contrast.claim is claim
    ]


def _waiting(claim: Claim, planned: Sequence[Block], runs: Sequence[Run]) -> str:
    """Why there is no verdict."""
    if claim.instead:
        return f"set aside, see “{claim.instead}”"
    there = any(
        within(block, ours, runs) and within(block, theirs, runs)
        for block, contrast in _tests_of(claim, planned)
        for ours, theirs in contrast.arms
    )
    return "too few runs yet" if there else "not run yet"


def _shown_by(claim: Claim, planned: Sequence[Block], radius: float | None) -> str:
    """The command: the paper's figure, with a radius at which it has arms that are compared; else the study itself."""
    arms, command = FIGURES[claim.figure].arms(), f"figure {claim.figure}"
    ways = {command: arms}
    if radius is not None:
        ways[f"{command} --pessimism {radius_text(radius)}"] = at_radius(arms, radius)
    compared = [
        {block.arms[name].essence("seed") for name in pair}
        for block, contrast in _tests_of(claim, planned)
        for pair in contrast.arms
    ]
    for way, shown in ways.items():
        known = {arm.experiment.essence("seed") for arm in shown}
        if any(pair <= known for pair in compared):
            return way
    return "study"


def _foreseen(claim: Claim, planned: Sequence[Block], runs: Sequence[Run]) -> str:
    """What can be said of a claim before its runs: how far its interval will reach."""
    found = [
        (foreseen(block, contrast, runs), contrast.criterion.form, len(block.seeds))
        for block, contrast in _tests_of(claim, planned)
    ]
    reach, form, seeds = max(found, default=(math.nan, "", 0))
    return "–" if math.isnan(reach) else f"{seeds} seeds would leave ± {reach:{form}}"


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
    """How much of a block is there."""
    there = sum(len(within(block, arm, runs)) for arm in block.arms)
    return f"{block.name}: {there} of {len(block.arms) * len(block.seeds)} runs"


def arms(block: Block, runs: Sequence[Run]) -> list[Row]:
    """A row per arm that has finished runs: means ± standard errors over its seeds."""
    rows = []
    for name in block.arms:
        found = within(block, name, runs)
        if found:
            numbers = (_mean([what.of(run) for run in found], form) for what, form in MEASURED)
            rows.append((name, str(len(found)), *numbers))
    return rows


def verdicts(block: Block, runs: Sequence[Run]) -> list[Row]:
    """A row per comparison for which there are seeds enough."""
    rows = []
    for found in judged(block, runs):
        contrast, form = found.contrast, found.contrast.criterion.form
        rows.append((
            contrast.title, contrast.theirs, contrast.criterion.quantity.name,
            ", ".join(f"{mean:{form}}" for mean in found.means),
            _difference(found), "< 0.001" if found.p < 5e-4 else f"{found.p:.3f}",
            _seeds(found), found.verdict,
        ))  # fmt: skip
    return rows


def within(block: Block, arm: str, runs: Sequence[Run]) -> list[Run]:
    """The finished runs of one of a block's arms, by seed."""
    by_seed = runs_of(block.arms[arm], runs)
    return [run for seed, run in sorted(by_seed.items()) if seed in block.seeds]


def _difference(found: Finding) -> str:
    estimate, low, high = (f"{x:+z{found.contrast.criterion.form}}" for x in found.difference)
    return f"{estimate} [{low}, {high}]"


def _seeds(found: Finding) -> str:
    return f"{found.seeds} of {found.planned}" if found.seeds < found.planned else str(found.seeds)


def _mean(values: Sequence[float], form: str) -> str:
    if not np.isfinite(values).all():
        return "–"
    mean = f"{np.mean(values):{form}}"
    return f"{mean} ± {standard_error(values):{form}}" if len(values) > 1 else mean
