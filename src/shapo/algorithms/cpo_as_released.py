"""CPO as OmniSafe, SafePO and the authors' release compute it, to reproduce published numbers. Nothing else uses it.

Two things are wrong with it. The excess J_c − limit is per episode while the cost gradient is per step, so that the
constraint is either out of reach or out of sight and the algorithm switches like CRPO. And the dual has the wrong sign
of r and clamps in the wrong order: against a brute-force optimum it solves none of the problems with a feasible
recovery (docs/algorithms/cpo.md).
"""

from dataclasses import dataclass

import jax.numpy as jnp
from jax import Array

from shapo.algorithms.cpo import Answer
from shapo.rules.constrained import BOUND, FREE, RECOVERY, Mixture, Products
from shapo.rules.doubt import Evidence
from shapo.types import Progress


def released_mixture(q: Array, r: Array, s: Array, excess: Array, radius: Array | float) -> Mixture:
    """The published dual; r is negated because published code ascends the reward."""
    r = -r
    a, b = q - r**2 / (s + 1e-8), 2 * radius - excess**2 / (s + 1e-8)
    lambda_a, lambda_b = (
        jnp.sqrt(jnp.maximum(a, 0) / jnp.where(b > 0, b, 1.0)),
        jnp.sqrt(q / (2 * radius)),
    )
    border = r / (excess + 1e-8)
    # torch.clamp(x, low, high) is min(max(x, low), high): with low > high it returns high.
    clamp = lambda x, low, high: jnp.minimum(jnp.maximum(x, low), high)
    below = excess < 0
    lambda_a = jnp.where(below, clamp(lambda_a, 0.0, border), jnp.maximum(lambda_a, border))
    lambda_b = jnp.where(below, jnp.maximum(lambda_b, border), clamp(lambda_b, 0.0, border))
    value_a = -0.5 * (a / (lambda_a + 1e-8) + b * lambda_a) - r * excess / (s + 1e-8)
    value_b = -0.5 * (q / (lambda_b + 1e-8) + 2 * radius * lambda_b)
    best = jnp.where(value_a >= value_b, lambda_a, lambda_b)
    nu = jnp.maximum(0.0, best * excess - r) / (s + 1e-8)
    zero = jnp.zeros_like(q)
    hopeless, free = (excess >= 0) & (b < 0), below & (b < 0)
    return Mixture(
        reward=jnp.select(
            [hopeless, free], [zero, jnp.sqrt(2 * radius / (q + 1e-8))], 1 / (best + 1e-8)
        ),
        cost=jnp.select(
            [hopeless, free], [jnp.sqrt(2 * radius / (s + 1e-8)), zero], nu / (best + 1e-8)
        ),
        case=jnp.select([hopeless, free], [RECOVERY, FREE], BOUND),
    )


@dataclass(frozen=True)
class AsReleased:
    """The published excess, per episode after all, and the published dual."""

    def init(self) -> tuple[()]:
        """Nothing to remember."""
        return ()

    def solve(
        self,
        state: tuple[()],
        products: Products,
        found: Evidence,
        progress: Progress,
        limit: float,
        radius: Array | float,
    ) -> tuple[tuple[()], Answer]:
        """`released_mixture`."""
        (cost,) = jnp.asarray(progress.episode_cost)
        excess = cost - limit
        mixture = released_mixture(products.q, products.r, products.s, excess, radius)
        return state, Answer(mixture, excess, excess >= 0, {})
