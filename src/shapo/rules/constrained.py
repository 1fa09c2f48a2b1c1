"""The best step under a linear constraint, also where its gradient is noisy; and how far along it one may really go."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from shapo.rules.geometry import Backtracked, Behaviour, backtrack
from shapo.rules.gradients import Loss
from shapo.rules.trees import Tree

RECOVERY, FREE, BOUND = 0, 1, 2
FLAT = 1e-30
"""bᵀF⁻¹b below which there is no cost gradient to speak of: products of such numbers are lost in single precision."""


class Mixture(NamedTuple):
    """A step x = −(reward · F⁻¹g + cost · F⁻¹b)."""

    reward: Array
    cost: Array
    case: Array
    """RECOVERY, FREE or BOUND."""


def best_mixture(q: Array, r: Array, s: Array, excess: Array, radius: Array | float) -> Mixture:
    """The minimum of gᵀx over bᵀx + excess ≤ 0 and ½ xᵀFx ≤ radius, from q = gᵀF⁻¹g, r = gᵀF⁻¹b, s = bᵀF⁻¹b.

    In the plane bᵀx = −c, x = −(c/s) F⁻¹b + y with bᵀy = 0, where y is the steepest descent that the rest of the
    trust region, δ − c²/2s, allows.
    """
    tiny = jnp.finfo(q.dtype).tiny
    q, s = jnp.maximum(q, tiny), jnp.maximum(s, tiny)
    free = jnp.sqrt(2 * radius / q)
    meets = excess - free * r <= 0  # bᵀx + c at the TRPO step
    room = 2 * radius - excess**2 / s
    across = jnp.maximum(q - r**2 / s, tiny)  # gᵀF⁻¹g within the plane
    along = jnp.sqrt(jnp.maximum(room, 0.0) / across)
    hopeless = (excess > 0) & (room < 0)
    zero = jnp.zeros_like(q)
    case = jnp.select([hopeless, meets], [RECOVERY, FREE], BOUND)
    return Mixture(
        reward=jnp.select([hopeless, meets], [zero, free], along),
        cost=jnp.select(
            [hopeless, meets], [jnp.sqrt(2 * radius / s), zero], excess / s - along * r / s
        ),
        case=case,
    )


class Products(NamedTuple):
    """Inner products of the two gradients in the metric F⁻¹, and what of them is not noise.

    With b₁ and b₂ the gradients of the two halves of a batch, b = (b₁ + b₂)/2 and e = (b₁ − b₂)/2, the promise
    bᵀF⁻¹b counts its own noise as progress. b₁ᵀF⁻¹b₂ does not, as the halves' noises have nothing in common:
    b₁ᵀF⁻¹b₂ = bᵀF⁻¹b − eᵀF⁻¹e. Likewise for gᵀF⁻¹b.
    """

    q: Array
    """gᵀF⁻¹g"""
    r: Array
    """gᵀF⁻¹b"""
    s: Array
    """bᵀF⁻¹b"""
    kept_r: Array
    """How much the true cost falls per unit of F⁻¹g."""
    kept_s: Array
    """How much the true cost falls per unit of F⁻¹b."""

    @classmethod
    def believed(cls, q: Array, r: Array, s: Array) -> "Products":
        """All that is promised, taken at its word."""
        return cls(q, r, s, r, s)

    @property
    def share(self) -> Array:
        """Of what F⁻¹b promises, the part that is not noise."""
        return self.kept_s / jnp.maximum(self.s, jnp.finfo(self.s.dtype).tiny)


def honest_mixture(products: Products, excess: Array, radius: Array | float) -> Mixture:
    """The best step x = −(a F⁻¹g + β F⁻¹b), a ≥ 0, whose *kept* promise, a·kept_r + β·kept_s, covers the excess.

    If there is none, or only one that unlearns the reward (a < 0), the cost is reduced along F⁻¹b alone: until it is
    covered, or as far as the trust region allows. Where there is slack instead of an excess, F⁻¹g alone is followed
    until that is used up. Where cost has no gradient, reward is climbed freely within the limit, and nothing helps
    beyond it.

    The trust region is ½ zᵀKz ≤ radius with z = (a, β) and K = [[q, r], [r, s]], the reward falls by (q, r)·z, and the
    cost by h·z with h = (kept_r, kept_s): again a linear aim and a linear constraint in an ellipse, so `best_mixture`
    answers it, with K⁻¹h in the place of F⁻¹b. kept_s must be positive.
    """
    flat = products.s <= FLAT
    q, r, s, kept_r, kept_s = products._replace(
        q=jnp.maximum(products.q, jnp.finfo(products.q.dtype).tiny),
        s=jnp.where(flat, 1.0, products.s),
        kept_s=jnp.where(flat, 1.0, products.kept_s),
    )
    area = jnp.maximum(q * s - r**2, jnp.finfo(q.dtype).eps * q * s)
    towards = (s * kept_r - r * kept_s) / area, (q * kept_s - r * kept_r) / area  # K⁻¹h
    reach = kept_r * towards[0] + kept_s * towards[1]
    found = best_mixture(q, kept_r, reach, excess, radius)
    reward, cost = found.reward + found.cost * towards[0], found.cost * towards[1]
    zero = jnp.zeros_like(q)
    beyond = excess > 0
    alone = (found.case == RECOVERY) | (reward < 0)
    enough = jnp.clip(excess / kept_s, 0.0, jnp.sqrt(2 * radius / s))
    climb = excess / jnp.where(
        kept_r < 0, kept_r, -1.0
    )  # where a < 0 and there is slack, climbing costs
    cases = [flat & beyond, flat, alone & beyond, alone]
    return Mixture(
        jnp.select(cases, [zero, jnp.sqrt(2 * radius / q), zero, climb], reward),
        jnp.select(cases, [zero, zero, enough, zero], cost),
        jnp.select(cases, [RECOVERY, FREE, RECOVERY, BOUND], found.case),
    )


class TriedWithCost(NamedTuple):
    """What the line search knows of a point."""

    loss: Array
    cost_loss: Array
    kl: Array


def go_carefully(
    params: Tree,
    move: Tree,
    losses: tuple[Loss, Loss],
    values: tuple[Array, Array],
    behaviour: Behaviour,
    *,
    radius: Array | float,
    excess: Array,
    may_lose: Array,
    trials: int,
) -> Backtracked:
    """Move, but no further than that the KL stays within the radius and the cost rises by no more than its slack.

    `losses` are the reward's and the cost's, `values` theirs at `params`. The reward may not fall, unless it
    `may_lose`: to bring the cost down has its price.
    """
    (loss, cost_loss), (value, cost_value) = losses, values
    here = behaviour.outputs(params)
    return backtrack(
        params,
        move,
        evaluate=lambda p: TriedWithCost(
            loss(p), cost_loss(p), behaviour.divergence(here, behaviour.outputs(p))
        ),
        accept=lambda found: (
            ((found.loss <= value) | may_lose)
            & (found.cost_loss - cost_value <= jnp.maximum(-excess, 0.0))
            & (found.kl <= radius)
        ),
        trials=trials,
    )
