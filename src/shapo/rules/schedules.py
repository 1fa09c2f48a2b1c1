"""How pessimistic SHAPO is, as training goes on.

Proposition 2 ties the radius δ of the worst-case search to a tail probability α and a sample size n:
δ = z_α² / 2n, or read the other way, α = Φ(−√(2nδ)). Fixing δ makes the agent ever more pessimistic; fixing α makes
the radius shrink as 1/n. What n should be is open: the paper counts every state-action pair, knowing that they are
correlated; `EffectiveAlpha` counts only what the autocorrelation of each batch leaves.
"""

from dataclasses import dataclass
from numbers import Real
from statistics import NormalDist
from typing import Protocol

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import ndtr

from shapo.types import Progress
from shapo.words import BadInput


class Schedule(Protocol):
    """A number that depends on progress."""

    def __call__(self, progress: Progress) -> Array | float:
        """The number now."""
        ...


def is_real(number: object) -> bool:
    """Whether it is a number, of Python or NumPy; a truth is none."""
    return isinstance(number, Real) and not isinstance(number, bool)


def check_numbers(rule: object, *names: str, positive: bool = False) -> None:
    """Raise BadInput unless these fields of a rule are schedules, or finite and not negative (or even positive)."""
    for name in names:
        number = getattr(rule, name)
        said = f"{type(rule).__name__}({name}={number!r})"
        if callable(number):
            continue
        if not is_real(number):
            raise BadInput(f"{said}: give a number, or a function of progress")
        if not 0 <= float(number) < float("inf") or (positive and number == 0):
            bound = "positive" if positive else "not negative"
            raise BadInput(f"{said}: it must be finite and {bound}")


def now(number: "float | Schedule", progress: Progress) -> Array | float:
    """The value of a number or schedule, now; a schedule may be somebody's own."""
    if not callable(number):
        return float(number)
    found = number(progress)
    shape = np.shape(found)
    if shape or not (is_real(found) or isinstance(found, Array | np.ndarray)):
        what = f"an array {shape}" if shape else f"a {type(found).__name__}"
        raise BadInput(f"the schedule {number!r} returned {what}; return one number")
    return found


def _check_alpha(alpha: float, owner: str) -> None:
    if not 0 < alpha < 0.5:
        raise BadInput(
            f"{owner}(alpha={alpha!r}): a tail probability lies between 0 and 0.5, both excluded"
        )


def _quantile(alpha: float) -> float:
    """z_α = Φ⁻¹(α), from the standard library: SciPy's takes longer to import than all of our own modules."""
    return NormalDist().inv_cdf(alpha)


@dataclass(frozen=True)
class Alpha:
    """δ_t = z_α² / 2n_t: the same tail probability for ever, every sample counted."""

    alpha: float

    def __post_init__(self):
        _check_alpha(self.alpha, "Alpha")

    def __call__(self, progress: Progress) -> Array:
        return jnp.asarray(_quantile(self.alpha) ** 2 / 2) / progress.samples


@dataclass(frozen=True)
class EffectiveAlpha:
    """δ_t = z_α² / 2n_t with n_t the effective sample size: samples with correlated advantages count for less.

    A cautious n_t: estimating advantages smooths them, so that even independent rewards count as one in
    (1 + γλ)/(1 − γλ), 33 as published.
    """

    alpha: float

    def __post_init__(self):
        _check_alpha(self.alpha, "EffectiveAlpha")

    def __call__(self, progress: Progress) -> Array:
        return jnp.asarray(_quantile(self.alpha) ** 2 / 2) / progress.effective_samples


@dataclass(frozen=True)
class Decay:
    """δ_t = δ / √(iteration + 1): what the authors' release offers."""

    radius: float

    def __post_init__(self):
        check_numbers(self, "radius")

    def __call__(self, progress: Progress) -> Array:
        return now(self.radius, progress) / jnp.sqrt(jnp.asarray(progress.iteration) + 1.0)


def implied_alpha(radius: Array, samples: Array) -> Array:
    """α = Φ(−√(2nδ)): the tail probability that a radius amounts to."""
    return ndtr(-jnp.sqrt(2 * samples * radius))


def autocorrelation_time(series: Array) -> Array:
    """τ = 1 + 2Σρ_k ≥ 1 of N series of T steps [T, N], pooled; T·N / τ samples would be as good if independent.

    ρ_k is the pooled autocorrelation at lag k, and the sum stops where a pair ρ_2k + ρ_2k+1 first fails to be positive
    (Geyer's initial positive sequence): beyond that there is only noise.
    """
    steps = series.shape[0]
    centred = series - series.mean()
    spectrum = jnp.abs(jnp.fft.rfft(centred, n=2 * steps, axis=0)) ** 2
    covariance = jnp.fft.irfft(spectrum, axis=0)[:steps].sum(1)
    correlation = covariance / jnp.where(covariance[0] > 0, covariance[0], 1.0)
    pairs = correlation[: steps // 2 * 2].reshape(-1, 2).sum(1)
    initial = jnp.cumprod(pairs > 0)
    return jnp.maximum(1.0, 2 * jnp.sum(pairs * initial) - 1.0)
