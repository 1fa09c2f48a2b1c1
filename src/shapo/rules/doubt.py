"""How far an estimate can be trusted, learned over batches: one of them alone is too noisy to tell its own noise.

What of a gradient is noise is known of the gradient at the policy itself. A rule that measures elsewhere climbs that
very noise first (SHAPO looks where the batch says that cost is highest), so its gradient has more of it than two halves
of the batch, seen from the policy, disagree about. Of a rule's direction therefore only that part counts which lies
along the plain gradient's, with the plain gradient's share of truth.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from shapo.rules import trees
from shapo.rules.constrained import Products
from shapo.rules.geometry import Metric
from shapo.rules.gradients import Slope
from shapo.rules.networks import Policy
from shapo.rules.solving import Guess
from shapo.rules.surrogates import Samples, surrogate
from shapo.rules.trees import Tree, where
from shapo.types import Progress

MEMORY = 0.98
"""How much of what is known stays from one batch to the next: some fifty of them count."""
LEAST_KEPT = 0.01
"""Of a promise made along F⁻¹b at least so much counts, lest an estimate that is all noise has no direction at all."""
GAIN = 0.05
"""How fast a margin follows: a cost that is always too high by its own spread moves it from 0 to 1 in 20 batches."""


NOISE_TOLERANCE = 0.1
"""Relative residual of a solve for the noise: only its size is wanted."""


def disagreement(params: Policy, samples: Samples, advantage: Array) -> Tree:
    """The gradient of what the two halves of a batch disagree about: all of it is noise."""
    return jax.grad(surrogate(samples, samples.side * advantage))(params)


class Evidence(NamedTuple):
    """What a batch's gradients at the policy itself, g and b, promise, and how far the rules' directions are theirs."""

    promised_r: Array
    """√(gᵀF⁻¹g · bᵀF⁻¹b), of which kept_r is a share: gᵀF⁻¹b itself may be near 0."""
    kept_r: Array
    """What two halves of the batch agree about of gᵀF⁻¹b."""
    promised_s: Array
    """bᵀF⁻¹b"""
    kept_s: Array
    """What two halves of the batch agree about of it."""
    along_r: Array
    """gᵀF⁻¹g̃ / gᵀF⁻¹g, with g̃ the slope that the reward's rule measures; 1 for the plain one."""
    along_s: Array
    """bᵀF⁻¹b̃ / bᵀF⁻¹b"""


class Followed(NamedTuple):
    """A direction that a gradient rule gives."""

    advantage: Array
    """[B] of the loss that it goes down."""
    slope: Slope
    natural: Guess
    """What the metric's solve for the slope found."""


def evidence(
    params: Policy,
    samples: Samples,
    reward: Followed,
    cost: Followed,
    metric: Metric,
    nearness: Metric | None = None,
) -> Evidence:
    """Of one batch. `nearness` is the metric in which the cost's direction was solved for, if that is another one.

    With b₁ and b₂ the gradients of the two halves of the batch, b = (b₁ + b₂)/2 and e = (b₁ − b₂)/2, the promise
    bᵀF⁻¹b counts its own noise as progress. b₁ᵀF⁻¹b₂ does not, as the halves' noises have nothing in common:
    b₁ᵀF⁻¹b₂ = bᵀF⁻¹b − eᵀF⁻¹e. Likewise for gᵀF⁻¹b.
    """
    g, b = (jax.grad(surrogate(samples, each.advantage))(params) for each in (reward, cost))
    reward_noise, cost_noise = (
        disagreement(params, samples, each.advantage) for each in (reward, cost)
    )
    climb, back = _solved(metric, g, reward), _solved(nearness or metric, b, cost)
    natural_noise = metric.solve(cost_noise, tolerance=NOISE_TOLERANCE).x
    q, s = trees.dot(g, climb), trees.dot(b, back)
    # Of what a climb may do to the cost, bᵀF⁻¹g, the bound is Schwarz's inequality in the metric of the way back.
    bound, noise_back = q, natural_noise
    if nearness:
        bound = trees.dot(climb, nearness.apply(climb))
        noise_back = nearness.solve(cost_noise, tolerance=NOISE_TOLERANCE).x
    tiny = jnp.finfo(s.dtype).tiny
    return Evidence(
        promised_r=jnp.sqrt(bound * s),
        kept_r=trees.dot(b, climb) - trees.dot(reward_noise, natural_noise),
        promised_s=s,
        kept_s=s - trees.dot(cost_noise, noise_back),
        along_r=trees.dot(g, reward.natural.x) / jnp.maximum(q, tiny),
        along_s=trees.dot(b, cost.natural.x) / jnp.maximum(s, tiny),
    )


def _solved(metric: Metric, grads: Tree, followed: Followed) -> Tree:
    """M⁻¹ times the gradient at the policy itself: a rule and its solve know it already, or something near."""
    known = followed.slope.natural or followed.natural
    return metric.solve(grads, known).x


class Kept(NamedTuple):
    """Running means of what is promised and what of it two halves of a batch agree about."""

    promised_r: Array
    kept_r: Array
    promised_s: Array
    kept_s: Array

    @classmethod
    def unknown(cls) -> "Kept":
        """Before the first batch."""
        return cls(*jnp.zeros(4))

    def seen(self, found: Evidence) -> "Kept":
        """With one batch more."""
        new = Kept(*found[: len(self)])
        return jax.tree.map(lambda old, now: MEMORY * old + (1 - MEMORY) * now, self, new)

    def counted(self, products: Products, found: Evidence) -> Products:
        """Of what the rules' directions F⁻¹g̃ and F⁻¹b̃ promise only what is true, by the shares of all batches."""
        tiny = jnp.finfo(found.promised_s.dtype).tiny
        share_r = self.kept_r / jnp.maximum(self.promised_r, tiny)
        share_s = self.kept_s / jnp.maximum(self.promised_s, tiny)
        along_s = jnp.maximum(found.promised_s * found.along_s, tiny)
        return products._replace(
            kept_r=jnp.clip(share_r, -1.0, 1.0) * found.promised_r * found.along_r,
            kept_s=jnp.clip(share_s, LEAST_KEPT, 1.0) * along_s,
        )


class Margin(NamedTuple):
    """How far below its limit a noisy cost must be aimed to meet it on average.

    Whoever climbs below the limit and retreats above it, by a measurement with spread σ, ends where climbing and
    retreating balance: above the limit, if a climb raises the cost by more than a retreat lowers it. The aim is
    therefore lowered by a share of σ, which the mean excess moves. That share is at most 1, so that a cost at its limit
    is below the aim in one batch of six and learning never stops; and a batch moves it by no more than if its excess
    were σ, so that a start far from the limit does not wind it up.
    """

    cost: Array
    """Of the last batch."""
    variance: Array
    """Running mean of half the squared difference of two batches' costs; what two noisy measurements differ by."""
    weight: Array
    """Of the variance, up to 1: two means that share episodes differ by less, by the share that is new."""
    share: Array

    @classmethod
    def unknown(cls) -> "Margin":
        """Before the first batch."""
        return cls(*jnp.zeros(4))

    def seen(self, cost: Array, limit: Array | float, news: Array | float = 1.0) -> "Margin":
        """With one batch more."""
        jump = jnp.where(self.weight > 0, cost - self.cost, 0.0)
        variance = MEMORY * self.variance + (1 - MEMORY) * jump**2 / 2
        weight = MEMORY * self.weight + (1 - MEMORY) * news
        spread = jnp.sqrt(variance / jnp.maximum(weight, 1e-6))
        moved = GAIN * jnp.clip((cost - limit) / jnp.maximum(spread, 1e-6), -1.0, 1.0)
        return Margin(cost, variance, weight, jnp.clip(self.share + moved, 0.0, 1.0))

    def below(self, limit: Array | float) -> Array:
        """The aim: never below 0, which no cost can be."""
        spread = jnp.sqrt(self.variance / jnp.maximum(self.weight, 1e-6))
        return jnp.maximum(limit - self.share * spread, jnp.minimum(limit, 0.0))


class Known(NamedTuple):
    """What the batches so far tell about the noise in gradient and cost."""

    kept: Kept
    margin: Margin

    @classmethod
    def nothing(cls) -> "Known":
        """Before the first batch."""
        return cls(Kept.unknown(), Margin.unknown())

    def seen(self, found: Evidence, progress: Progress, limit: float) -> "Known":
        """With one batch more, of one cost."""
        (cost,) = jnp.asarray(progress.episode_cost)
        margin = self.margin.seen(cost, limit, progress.episode_news)
        margin = where(progress.cost_is_known, margin, self.margin)
        return Known(self.kept.seen(found), margin)

    def excess(self, progress: Progress, limit: float) -> Array:
        """How far the cost is above where it is aimed, per step of the episodes that it is the mean of."""
        (cost,) = jnp.asarray(progress.episode_cost)
        return (cost - self.margin.below(limit)) / progress.episode_length

    def metrics(self, counted: Products, limit: float) -> dict[str, Array]:
        """The share of a promise that counts, and where the cost is aimed."""
        return {"kept": counted.share, "aim": self.margin.below(limit)}
