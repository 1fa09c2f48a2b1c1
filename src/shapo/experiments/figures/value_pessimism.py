"""Pessimism in the values instead of the actor: a comparison that the paper's source holds and its text does not."""

from collections.abc import Sequence

from matplotlib.figure import Figure as Picture

from shapo.experiments.figures import drawing
from shapo.experiments.figures.figure import Arm, Figure, Result
from shapo.experiments.figures.schedules import RADII
from shapo.experiments.figures.tasks import POINT_GOAL, published
from shapo.experiments.style import BLUE, GREEN, PLAIN, SHAPO, Look
from shapo.words import radius_text

BETAS = (0.5, 1.0, 2.0, 4.0)
ALPHAS = (0.9, 0.7, 0.5, 0.3, 0.1)
ENSEMBLE = Look(BLUE, "s", tag_offset=(-5, 5))
WCPG = Look(GREEN, "D", tag_offset=(-5, -9))
LOOKS = (("plain", PLAIN), ("ensemble, β", ENSEMBLE), ("WCPG, α", WCPG), ("SHAPO, δ", SHAPO))


def arms() -> list[Arm]:
    """PIDLag; with an ensemble of critics over β; with WCPG over α; with SHAPO over δ."""
    plain = lambda **choices: published(POINT_GOAL, "trpo-pid", "plain", **choices)
    shapo = lambda **choices: published(POINT_GOAL, "trpo-pid", "shapo", **choices)
    return [
        Arm("plain", plain(), PLAIN),
        *(
            Arm("ensemble, β", plain(values="ensemble", value_beta=beta), ENSEMBLE, tag=f"{beta:g}")
            for beta in BETAS
        ),
        *(
            Arm("WCPG, α", plain(values="wcpg", value_alpha=alpha), WCPG, tag=f"{alpha:g}")
            for alpha in ALPHAS
        ),
        *(
            Arm("SHAPO, δ", shapo(pessimism=radius), SHAPO, tag=radius_text(radius))
            for radius in RADII
        ),
    ]


def draw(results: Sequence[Result]) -> Picture:
    """Return against cost rate, a point per setting."""
    return drawing.settings(results, LOOKS)


FIGURE = Figure(
    "value-pessimism", "Pessimism in values or in the policy", "left out of the paper", draw, arms
)
