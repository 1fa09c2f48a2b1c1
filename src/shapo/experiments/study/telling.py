"""The study in words: what each arm reached, and what that says of each claim, as rows of text for screen and page."""

import math
from collections.abc import Sequence
from typing import NamedTuple

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
from shapo.experiments.statistics import in_pairs, standard_error
from shapo.experiments.study.plan import blocks, chosen_radius
from shapo.experiments.study.questions import CLAIMS, Block, Claim, Contrast, runs_of
from shapo.experiments.study.verdicts import Finding, foreseen, judged, verdict_on
from shapo.runs.folder import Run
from shapo.words import radius_text

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


def begun(runs: Sequence[Run]) -> list[Block]:
    """The blocks that have finished runs of their own."""
    found, seen = [], set()
    for block in planned(runs):
        own = {run.folder for arm in block.arms for run in within(block, arm, runs)}
        if own - seen:
            found.append(block)
        seen |= own
    return found


def planned(runs: Sequence[Run]) -> list[Block]:
    """Every block once: of the flagship, which is run in two parts, the one with all its seeds."""
    return list({block.name: block for block in blocks(runs)}.values())


class Judgement(NamedTuple):
    """A claim, and what its comparisons found."""

    claim: Claim
    findings: Sequence[Finding]
    verdict: str
    foreseen: str
    """How far its interval will reach, as far as that is known before its runs."""
    command: str
    """What shows it."""


def judgements(runs: Sequence[Run]) -> list[Judgement]:
    """Every claim, in their order."""
    findings = [found for block in begun(runs) for found in judged(block, runs)]
    plan, radius, told = planned(runs), chosen_radius(runs), []
    for claim in CLAIMS:
        own = [found for found in findings if found.contrast.claim is claim]
        verdict, shown_by = _verdict(claim, own, plan, runs), _shown_by(claim, plan, radius)
        told.append(Judgement(claim, own, verdict, _foreseen(claim, plan, runs), shown_by))
    return told


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


def _verdict(
    claim: Claim, findings: Sequence[Finding], plan: Sequence[Block], runs: Sequence[Run]
) -> str:
    tests = _tests_of(claim, plan)
    verdict = verdict_on(findings, len(tests)) or _waiting(claim, plan, runs)
    if verdict == "open" and len(findings) < len(tests):
        verdict = f"open: {len(findings)} of {len(tests)} comparisons"
    later = bool(tests) and all(contrast in block.asked_later for block, contrast in tests)
    return _told(verdict, later)


def _told(verdict: str, later: bool) -> str:
    """What was thought of when some runs had been seen says so."""
    return f"{verdict}, asked later" if later else verdict


def _tests_of(claim: Claim, plan: Sequence[Block]) -> list[tuple[Block, Contrast]]:
    """The contrasts that test a claim, each with its block."""
    return [
        (block, contrast)
        for block in plan
        for family in block.families
        for contrast in family
        if contrast.claim is claim
    ]


def _waiting(claim: Claim, plan: Sequence[Block], runs: Sequence[Run]) -> str:
    """Why there is no verdict."""
    if claim.instead:
        return f"set aside, see “{claim.instead}”"
    there = any(
        within(block, ours, runs) and within(block, theirs, runs)
        for block, contrast in _tests_of(claim, plan)
        for ours, theirs in contrast.arms
    )
    return "too few runs yet" if there else "not run yet"


def _shown_by(claim: Claim, plan: Sequence[Block], radius: float | None) -> str:
    """The command that shows it: the paper's figure, as published or at the chosen radius, or else the study itself.

    A figure does if it has every task and algorithm that is compared, and both arms of some comparison.
    """
    arms, command = FIGURES[claim.figure].arms(), f"figure {claim.figure}"
    ways = {command: arms}
    if radius is not None:
        ways[f"{command} --pessimism {radius_text(radius)}"] = at_radius(arms, radius)
    pairs = [
        [block.arms[name] for name in pair]
        for block, contrast in _tests_of(claim, plan)
        for pair in contrast.arms
    ]
    compared = {(each.env, each.algo) for pair in pairs for each in pair}
    for way, shown in ways.items():
        known = {arm.experiment.essence("seed") for arm in shown}
        has_all = compared <= {(each.env, each.algo) for each in known}
        if has_all and any({each.essence("seed") for each in pair} <= known for pair in pairs):
            return way
    return "study"


def _foreseen(claim: Claim, plan: Sequence[Block], runs: Sequence[Run]) -> str:
    """What can be said of a claim before its runs: how far its interval will reach."""
    found = [
        (foreseen(block, contrast, runs), contrast.criterion.form, len(block.seeds))
        for block, contrast in _tests_of(claim, plan)
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
    """How much of a block is there, and how it is compared if not as most are."""
    there = sum(len(within(block, arm, runs)) for arm in block.arms)
    how = ", in pairs of one seed" if block.comparison is in_pairs else ""
    return f"{block.name}: {there} of {len(block.arms) * len(block.seeds)} runs{how}"


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
        later = found.contrast in block.asked_later
        contrast, form = found.contrast, found.contrast.criterion.form
        rows.append((
            contrast.title, contrast.theirs, contrast.criterion.quantity.name,
            ", ".join(f"{mean:{form}}" for mean in found.means),
            difference(found), "< 0.001" if found.p < 5e-4 else f"{found.p:.3f}",
            _seeds(found), _told(found.verdict, later),
        ))  # fmt: skip
    return rows


def within(block: Block, arm: str, runs: Sequence[Run]) -> list[Run]:
    """The finished runs of one of a block's arms, by seed."""
    by_seed = runs_of(block.arms[arm], runs)
    return [run for seed, run in sorted(by_seed.items()) if seed in block.seeds]


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
