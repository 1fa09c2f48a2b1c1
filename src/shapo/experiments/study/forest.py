"""All comparisons of the study in one forest plot: how far each goes the way that is claimed, and how sure that is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import PlaceHolderLayoutEngine

from shapo.experiments import style
from shapo.experiments.study.judging import Judgement
from shapo.experiments.study.telling import compared, difference
from shapo.experiments.study.verdicts import Finding

LOOKS = {
    "holds": style.Look(style.GREEN, "*"),
    "does not hold": style.Look(style.VERMILION, "s"),
    "undecided": style.Look(style.GREY, "o"),
    "open": style.Look(style.GREY, "o"),
}
"""By how a verdict begins."""
AS_PLACED = PlaceHolderLayoutEngine(adjust_compatible=True, colorbar_gridspec=True)
"""No layout: after the first file, Matplotlib would take "none" for whatever the style says."""
REACH = 6.0
"""What lies further out is an arrow: of how little matters where agents differ a lot, nobody wants to see all."""
CLEAR = {"facecolor": "white", "edgecolor": "none", "pad": 1}
"""Lines do not run through a long heading."""
WIDTH, ROW, HEADING = 10.0, 0.17, 0.25
"""Inches."""


class Effect(NamedTuple):
    """A difference as it is drawn: more is as claimed, 1 is what would matter."""

    estimate: float
    low: float
    high: float


def effect(found: Finding) -> Effect:
    """A difference in units of the smallest one that would matter, turned so that the claim's side is positive."""
    criterion = found.contrast.criterion
    unit = criterion.sign * criterion.matters(found.means[1])
    estimate, *ends = (end / unit for end in found.difference)
    return Effect(estimate, *sorted(ends))


def save(judgements: Sequence[Judgement], folder: Path, name: str = "claims") -> list[Path]:
    """Write the picture as `name.png`, `.svg` and `.pdf`."""
    with style.house_style():
        return style.save(draw(judgements), folder, name)


def draw(judgements: Sequence[Judgement]) -> Figure:
    """A heading and a verdict for each claim that was compared, and under it its comparisons."""
    matplotlib.use("agg")
    shown = [each for each in judgements if each.findings]
    height = sum(HEADING + ROW * len(each.findings) for each in shown)
    figure = plt.figure(figsize=(WIDTH, height + 0.6), layout=AS_PLACED)
    axes = figure.add_axes((0.4, 0.5 / (height + 0.6), 0.345, height / (height + 0.6)))
    words = axes.get_yaxis_transform()  # x in widths of the panel, y in inches from above

    def write(x: float, text: str, **look: Any) -> None:
        axes.text(x, y, text, transform=words, va="center", **look)

    y = 0.0
    for each in shown:
        y -= HEADING
        write(-1.12, each.claim.text[0].upper() + each.claim.text[1:], weight="bold", bbox=CLEAR)
        write(1.04, each.verdict, weight="bold", color=_look(each.verdict).colour)
        for what, found in compared(each):
            y -= ROW
            write(-1.09, what, color="#404040")
            write(1.04, difference(found), color="#404040")
            _interval(axes, y, effect(found), _look(found.verdict))
    axes.axvline(0, color=style.BLACK, linewidth=0.8, zorder=1)
    axes.axvline(1, color=style.BLACK, linewidth=0.8, linestyle=":", zorder=1)
    axes.text(1, 0, " what would matter", fontsize=7, va="top")
    axes.set(
        xlim=(-REACH, REACH), ylim=(y - ROW, 0), yticks=[],
        xlabel="← against the claim · difference, in units of what would matter · as claimed →",
    )  # fmt: skip
    axes.spines["left"].set_visible(False)
    axes.grid(axis="y", visible=False)
    return figure


def _look(verdict: str) -> style.Look:
    return next(look for begin, look in LOOKS.items() if verdict.startswith(begin))


def _interval(axes: Axes, y: float, drawn: Effect, look: style.Look) -> None:
    low, high = max(drawn.low, -REACH), min(drawn.high, REACH)
    axes.plot([low, high], [y, y], color=look.colour, linewidth=1.6, solid_capstyle="butt")
    beyond = [(-REACH, "<")] * (drawn.low < -REACH) + [(REACH, ">")] * (drawn.high > REACH)
    for end, arrow in beyond:
        axes.plot(end, y, arrow, color=look.colour, markersize=4, clip_on=False)
    if abs(drawn.estimate) <= REACH:
        size = 0.75 * look.marker_size
        axes.plot(drawn.estimate, y, look.marker, color=look.colour, markersize=size)
