"""Figure 2: how hard one action pulls at a Gaussian policy, with and without SHAPO."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure as Picture

from shapo.experiments.figures import drawing
from shapo.experiments.figures.figure import Figure, Result
from shapo.experiments.style import FAINT, PLAIN, SHAPO
from shapo.rules.analysis import gaussian_gradient, gaussian_shapo_gradient

RADIUS = 0.005


def draw(results: Sequence[Result]) -> Picture:
    """Gradient norms over the action's size, for a bad and a good action, in two dimensions."""
    size = np.linspace(0.01, 4.5, 400)
    action = np.stack([size, np.zeros_like(size)], axis=-1)
    picture, axes = plt.subplots(1, 2, figsize=(6.2, 2.6), sharey=True)
    for panel, advantage, title in zip(axes, (-10.0, 10.0), ("unsafe", "safe"), strict=True):
        plain = np.linalg.norm(gaussian_gradient(action, advantage), axis=-1)
        shapo = np.linalg.norm(gaussian_shapo_gradient(action, advantage, RADIUS), axis=-1)
        density = size * np.exp(-(size**2) / 2)
        panel.fill_between(size, density / density.max() * 20, color=FAINT, alpha=0.7, lw=0)
        panel.plot(size, plain, color=PLAIN.colour, linestyle=PLAIN.line)
        panel.plot(size, shapo, color=SHAPO.colour, linestyle=SHAPO.line)
        panel.set(xlabel=r"size of the action $\|a\|$", xlim=(0, 4.5), ylim=(0, None))
        panel.set_title(f"{title} action, $A = {advantage:+.0f}$")
    axes[0].set_ylabel("gradient norm")
    axes[0].annotate(
        "density of actions",
        (1.9, 8),
        (2.6, 12),
        fontsize=7,
        color="#6A6A6A",
        arrowprops={"arrowstyle": "-", "color": "#9A9A9A", "lw": 0.6},
    )
    drawing.legend(
        picture, [(r"plain  $\|g\|$", PLAIN), (r"SHAPO  $\|\tilde{g}\|$", SHAPO)], lines=True
    )
    return picture


FIGURE = Figure("gaussian-gradients", "Gradient norms of a Gaussian policy", "Figure 2", draw)
