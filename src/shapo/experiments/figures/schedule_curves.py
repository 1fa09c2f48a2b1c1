"""Figure 10: what a fixed α means for the radius, and a fixed radius for α."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Picture

from shapo.experiments.figures import drawing
from shapo.experiments.figures.figure import Figure, Result
from shapo.experiments.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILION
from shapo.rules.analysis import alpha_of_radius, radius_of_alpha

LINES = ("-", (0, (5, 1.2)), (0, (1, 1.1)), (0, (6, 1.2, 1, 1.2)), (0, (3, 1, 1, 1, 1, 1)))
COLOURS = (BLACK, BLUE, VERMILION, GREEN, PURPLE, ORANGE)
ALPHAS = (0.01, 0.05, 0.1, 0.2, 0.4)
RADII = (1e-6, 1e-5, 1e-4, 1e-3)
SAMPLES = np.geomspace(2e4, 1e7, 300)
UNSEEN = 1e-12
"""Tails thinner than this are not drawn."""


def draw(results: Sequence[Result]) -> Picture:
    """δ_t for several α on the left, α_t for several δ on the right."""
    picture, (left, right) = plt.subplots(1, 2, figsize=(6.6, 3.0))
    for alpha, colour, line in zip(ALPHAS, COLOURS, LINES, strict=False):
        radius = radius_of_alpha(alpha, SAMPLES)
        left.loglog(SAMPLES, radius, color=colour, linestyle=line, label=rf"$\alpha$ = {alpha:g}")
    for radius, colour, line in zip(RADII, COLOURS, LINES, strict=False):
        alpha = alpha_of_radius(radius, SAMPLES)
        seen = alpha > UNSEEN
        right.loglog(
            SAMPLES[seen],
            alpha[seen],
            color=colour,
            linestyle=line,
            label=rf"$\delta$ = $10^{{{np.log10(radius):.0f}}}$",
        )
    left.set(ylabel=r"radius $\delta_t = z_\alpha^2 / 2 n_t$", title=r"fixed $\alpha$")
    right.set(ylabel=r"tail $\alpha_t = \Phi(-\sqrt{2 n_t \delta})$", title=r"fixed $\delta$")
    right.set_ylim(UNSEEN, 1)
    for panel in (left, right):
        drawing.count_ticks(panel)
        panel.set_xlabel(r"state–action pairs collected, $n_t$")
        panel.set_xlim(SAMPLES[0], SAMPLES[-1])
        panel.minorticks_off()
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.24), ncols=3)
    return picture


FIGURE = Figure("schedule-curves", "Pessimism schedules, analytically", "Figure 10", draw)
