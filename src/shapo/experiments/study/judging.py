"""What is known of each claim: its comparisons, the verdict that they make together, and what shows it."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from shapo.experiments.figures.figure import at_radius
from shapo.experiments.figures.registry import FIGURES
from shapo.experiments.study.plan import blocks, chosen_radius
from shapo.experiments.study.questions import CLAIMS, Block, Claim, Contrast
from shapo.experiments.study.verdicts import Finding, foreseen, judged, verdict_on
from shapo.runs.folder import Run
from shapo.words import radius_text


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


def _verdict(
    claim: Claim, findings: Sequence[Finding], plan: Sequence[Block], runs: Sequence[Run]
) -> str:
    tests = _tests_of(claim, plan)
    verdict = verdict_on(findings, len(tests)) or _waiting(claim, plan, runs)
    if verdict == "open" and len(findings) < len(tests):
        verdict = f"open: {len(findings)} of {len(tests)} comparisons"
    later = bool(tests) and all(contrast in block.asked_later for block, contrast in tests)
    return worded(verdict, later)


def worded(verdict: str, later: bool) -> str:
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
        block.found(ours, runs) and block.found(theirs, runs)
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


def begun(runs: Sequence[Run]) -> list[Block]:
    """The blocks that have finished runs of their own."""
    found, seen = [], set()
    for block in planned(runs):
        own = {run.folder for arm in block.arms for run in block.found(arm, runs)}
        if own - seen:
            found.append(block)
        seen |= own
    return found


def planned(runs: Sequence[Run]) -> list[Block]:
    """Every block once: of the flagship, which is run in two parts, the one with all its seeds."""
    return list({block.name: block for block in blocks(runs)}.values())
