"""Figure 1: the perturbation as the worst policy nearby, and as the most likely bad one."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.patheffects import withStroke

from shapo.experiments.figures.figure import Figure, Result
from shapo.experiments.style import BLUE, GREY, VERMILION
from shapo.rules.analysis import most_likely_below_quantile, radius_of_alpha

FISHER = np.array([[1.6, 0.7], [0.7, 0.9]])
GRADIENT = np.array([0.55, 1.0])
CURVATURE = np.array([[0.35, -0.25], [-0.25, 0.10]])
SAMPLES, ALPHA = 2.0, 0.05
REACH = 2.1


def draw(results: Sequence[Result]) -> Picture:
    """Three views of one made-up two-parameter policy; nothing is measured."""
    worst = most_likely_below_quantile(FISHER, GRADIENT, SAMPLES, ALPHA)
    picture, axes = plt.subplots(1, 3, figsize=(7, 2.5))
    _worst_nearby(axes[0], worst)
    _most_likely_bad(axes[1], worst)
    _slope_there(axes[2], worst)
    for panel in axes:
        panel.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), xticks=[], yticks=[], aspect="equal")
        panel.grid(False)
        panel.spines[:].set_visible(False)
        _point(panel, np.zeros(2), r"$\theta_0$", GREY)
    return picture


def _worst_nearby(panel: Axes, worst: np.ndarray) -> None:
    x, y, grid = _grid()
    panel.contour(x, y, grid @ GRADIENT, 9, colors="#C9C9C9", linewidths=0.7, linestyles="solid")
    divergence = np.einsum("...i,ij,...j", grid, FISHER, grid) / 2
    radius = float(radius_of_alpha(ALPHA, SAMPLES))
    panel.contourf(x, y, divergence, [0, radius], colors=[BLUE], alpha=0.15)
    panel.contour(x, y, divergence, [radius], colors=BLUE, linewidths=1.2)
    _point(panel, worst, r"$\theta_0+\epsilon$", VERMILION)
    _arrow(panel, np.zeros(2), worst, VERMILION)
    panel.set_title(r"least return with KL $\leq \delta$")


def _most_likely_bad(panel: Axes, worst: np.ndarray) -> None:
    x, y, grid = _grid()
    exponent = np.einsum("...i,ij,...j", grid, SAMPLES * FISHER, grid) / 2
    panel.contourf(x, y, np.exp(-exponent), 8, cmap="Blues", alpha=0.75)
    quantile = GRADIENT @ worst
    gain = grid @ GRADIENT
    panel.contourf(x, y, gain, [gain.min(), quantile], colors=[VERMILION], alpha=0.14)
    panel.contour(x, y, gain, [quantile], colors=VERMILION, linewidths=1.2, linestyles="solid")
    _point(panel, worst, r"$\theta_0+\epsilon_\alpha$", VERMILION)
    panel.text(-1.95, -1.95, r"return below $y_\alpha$", color=VERMILION, fontsize=7)
    panel.set_title(r"most likely below the $\alpha$-quantile")


def _slope_there(panel: Axes, worst: np.ndarray) -> None:
    x, y, grid = _grid()
    gain = grid @ GRADIENT + np.einsum("...i,ij,...j", grid, CURVATURE, grid) / 2
    panel.contour(x, y, gain, 12, colors="#C9C9C9", linewidths=0.7, linestyles="solid")
    here, there = GRADIENT, GRADIENT + CURVATURE @ worst
    _arrow(panel, np.zeros(2), here, GREY)
    _arrow(panel, worst, worst + there, VERMILION)
    _arrow(panel, np.zeros(2), there, VERMILION)
    _point(panel, worst, r"$\theta_0+\epsilon$", VERMILION)
    panel.text(here[0] - 0.2, here[1], "$g$", color=GREY)
    panel.text(there[0] + 0.06, there[1] - 0.05, r"$\tilde{g}$", color=VERMILION)
    panel.set_title(r"update along the slope felt there")


def _grid() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    axis = np.linspace(-REACH, REACH, 241)
    x, y = np.meshgrid(axis, axis)
    return x, y, np.stack([x, y], axis=-1)


def _point(panel: Axes, at: np.ndarray, label: str, colour: str) -> None:
    panel.plot(*at, "o", color=colour, markersize=5, markeredgecolor="white", zorder=5)
    text = panel.annotate(label, (at[0], at[1]), (5, -10), textcoords="offset points", zorder=6)
    text.set_path_effects([withStroke(linewidth=2, foreground="white")])


def _arrow(panel: Axes, start: np.ndarray, end: np.ndarray, colour: str) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
    panel.annotate("", (end[0], end[1]), (start[0], start[1]), arrowprops=style, zorder=4)


FIGURE = Figure("dual-fisher", "Two views of SHAPO's perturbation", "Figure 1", draw)
