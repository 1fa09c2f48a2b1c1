"""What the paper proves, as functions: where SHAPO's perturbation comes from and what it does.

Proposition 2: the perturbation is the most likely parameter whose return falls below the
α-quantile, when the parameters are known from n samples, θ ~ N(θ₀, (nF)⁻¹). Proposition 3: the two
gradients of a Gaussian policy, in closed form. (Theorems and propositions are numbered
together; Theorem 1 is a bound that nothing here computes.)

Here, as in the paper, gradients *raise* the return; elsewhere every loss is minimised.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from shapo.words import BadInput

Array = NDArray[np.floating]


def steepest_ascent(fisher: Array, gradient: Array, radius: float) -> Array:
    """U_F(g, δ): the step within ½ εᵀFε ≤ δ along which the linear objective gᵀε grows most."""
    natural = np.linalg.solve(fisher, gradient)
    return np.sqrt(2 * radius / (gradient @ natural)) * natural


def most_likely_below_quantile(
    fisher: Array, gradient: Array, samples: float, alpha: float
) -> Array:
    """ε_α: the most likely ε ~ N(0, (nF)⁻¹) whose return gᵀε is at most its α-quantile (Prop. 2).

    Equal to `steepest_ascent(fisher, -gradient, radius_of_alpha(alpha, samples))`.
    """
    natural = np.linalg.solve(fisher, gradient)
    variance = gradient @ natural / _positive("samples", samples)
    quantile = _lower_quantile(alpha) * np.sqrt(variance)
    return quantile / (gradient @ natural) * natural


def radius_of_alpha(alpha: ArrayLike, samples: ArrayLike) -> Array:
    """δ_t = z_α² / 2n_t: the radius that looks as far as the α-quantile after n_t samples."""
    return _lower_quantile(alpha) ** 2 / (2 * _positive("samples", samples))


def alpha_of_radius(radius: ArrayLike, samples: ArrayLike) -> Array:
    """α_t = Φ(-√(2 n_t δ)): the tail probability that a radius stands for after n_t samples."""
    return ndtr(-np.sqrt(2 * _positive("samples", samples) * _positive("radius", radius)))


def gaussian_gradient(action: ArrayLike, advantage: ArrayLike) -> Array:
    """g(a, A) = A a: how one action [..., n] pulls at the mean of N(0, I)."""
    return np.asarray(advantage, float)[..., None] * np.asarray(action, float)


def gaussian_shapo_gradient(action: ArrayLike, advantage: ArrayLike, radius: float) -> Array:
    """g̃(a, A) = A Δ exp((‖a‖² - ‖Δ‖²) / 2): the pull at the worst mean within `radius` (Prop. 3).

    Δ = a ± ρ a/‖a‖ with ρ = √(2δ): the worst mean lies towards a bad action, away from a good one.
    """
    action, advantage = np.asarray(action, float), np.asarray(advantage, float)
    size = np.linalg.norm(action, axis=-1)
    if not size.all():
        raise BadInput("action: the worst mean has no direction at the zero action; leave it out")
    offset = size + np.where(advantage < 0, -1.0, 1.0) * np.sqrt(2 * radius)
    scale = advantage * (offset / size) * np.exp((size**2 - offset**2) / 2)
    return scale[..., None] * action


def _lower_quantile(alpha: ArrayLike) -> Array:
    alpha = np.asarray(alpha, float)
    if not np.all((alpha > 0) & (alpha < 0.5)):
        raise BadInput(f"alpha: {alpha} is not a lower tail; give a probability between 0 and 1/2")
    return ndtri(alpha)


def _positive(name: str, value: ArrayLike) -> Array:
    value = np.asarray(value, float)
    if not np.all(value > 0):
        raise BadInput(f"{name}: {value} is not positive")
    return value
