"""Figures 8 and 12: SHAPO with its radius held fixed, and with its tail probability held fixed."""

from collections.abc import Sequence

from matplotlib.figure import Figure as Picture

from shapo.experiments.figures import drawing
from shapo.experiments.figures.figure import Arm, Figure, Result
from shapo.experiments.figures.tasks import POINT_GOAL, published
from shapo.experiments.style import ALPHA, PLAIN, SHAPO
from shapo.words import radius_text

RADII = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3)
ALPHAS = (0.01, 0.05, 0.1, 0.2, 0.4)
LOOKS = (("plain", PLAIN), ("SHAPO, fixed δ", SHAPO), ("SHAPO, fixed α", ALPHA))


def main_arms() -> list[Arm]:
    """PIDLag, and SHAPO with the preset's δ and α."""
    return [_plain(), _fixed_radius(), _fixed_alpha()]


def single_arms() -> list[Arm]:
    """PIDLag, and SHAPO over several δ and several α."""
    radii = [_fixed_radius(radius_text(radius), pessimism=radius) for radius in RADII]
    alphas = [_fixed_alpha(f"{alpha:g}", alpha=alpha) for alpha in ALPHAS]
    return [_plain(), *radii, *alphas]


def draw(results: Sequence[Result]) -> Picture:
    """Return against cost rate, a point per setting."""
    return drawing.settings(results, LOOKS)


def _plain() -> Arm:
    return Arm("plain", published(POINT_GOAL, "trpo-pid", "plain"), PLAIN)


def _fixed_radius(tag: str = "", **overrides) -> Arm:
    experiment = published(POINT_GOAL, "trpo-pid", "shapo", **overrides)
    return Arm("SHAPO, fixed δ", experiment, SHAPO, tag=tag)


def _fixed_alpha(tag: str = "", **overrides) -> Arm:
    experiment = published(POINT_GOAL, "trpo-pid", "shapo", schedule="alpha", **overrides)
    return Arm("SHAPO, fixed α", experiment, ALPHA, tag=tag)


MAIN = Figure("schedules", "Fixed radius against fixed tail", "Figure 8", draw, main_arms)
SINGLE = Figure("schedules-single", "Many radii and tails", "Figure 12", draw, single_arms)
