"""How values become advantages: as they are, or with pessimism about them.

SHAPO is pessimistic about the *policy*. The usual alternative is to be pessimistic about the *values*: to subtract from
a state's reward, and add to its cost, what one is not sure of. A value rule says how many critics a signal has, what
each is fitted to, and what of them the advantages see; it knows nothing of gradients, so each goes with every other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple, Protocol

import jax.numpy as jnp
from jax import Array

from shapo.learning.advantages import gae
from shapo.rules import networks
from shapo.rules.networks import Mlp
from shapo.rules.schedules import check_numbers
from shapo.words import BadInput


class Trajectory(NamedTuple):
    """One signal, a reward or a cost, along T steps of N environments."""

    signal: Array
    """[T, N]"""
    obs: Array
    """[T, N, O] normalised."""
    next_obs: Array
    """[T, N, O] normalised."""
    terminated: Array
    """[T, N]"""
    truncated: Array
    """[T, N]"""
    discount: float
    gae: float

    def advantage(self, value: Array, next_value: Array) -> Array:
        """Generalised advantages of the signal, [T, N]."""
        return self._of(self.signal, value, next_value, self.discount)

    def variance(self, error: Array, variance: Array, next_variance: Array) -> Array:
        """The same of the variance: a sum of squared errors, discounted by γ²."""
        return self._of(error**2, variance, next_variance, self.discount**2)

    def error(self, value: Array, next_value: Array) -> Array:
        """δ = x + γ V(s') − V(s), [T, N]."""
        later = jnp.where(self.terminated, 0.0, next_value)
        return self.signal + self.discount * later - value

    def _of(self, signal: Array, value: Array, next_value: Array, discount: float) -> Array:
        return gae(
            signal,
            value,
            next_value,
            self.terminated,
            self.truncated,
            discount=discount,
            gae=self.gae,
        )


class Judged(NamedTuple):
    """What a value rule makes of a trajectory."""

    advantage: Array
    """[T, N]"""
    targets: tuple[Array, ...]
    """[T, N] for each of the signal's critics."""


class Values(Protocol):
    """A rule for how values become advantages."""

    @property
    def critics(self) -> tuple[str, ...]:
        """What the name of each of a signal's critics ends in."""
        ...

    def judge(self, critics: Sequence[Mlp], path: Trajectory, worse: float) -> Judged:
        """Advantages and targets; `worse` is −1 for a reward, of which less is worse, and 1 for a cost."""
        ...


def critic_names(values: Values, costs: int) -> list[str]:
    """Every critic's name, in order: the reward's, then each cost's, numbered where there are several."""
    of_cost = ["cost"] if costs == 1 else [f"cost_{i + 1}" for i in range(costs)]
    return [f"{signal}{each}" for signal in ("reward", *of_cost) for each in values.critics]


@dataclass(frozen=True)
class Mean:
    """One critic, taken at its word."""

    @property
    def critics(self) -> tuple[str, ...]:
        """One."""
        return ("",)

    def judge(self, critics: Sequence[Mlp], path: Trajectory, worse: float) -> Judged:
        """Generalised advantage estimation, and nothing else."""
        (critic,) = critics
        value = networks.value(critic, path.obs)
        advantage = path.advantage(value, networks.value(critic, path.next_obs))
        return Judged(advantage, (advantage + value,))


@dataclass(frozen=True)
class Ensemble:
    """Several critics: V = mean ∓ beta · (standard deviation over them), less for a reward, more for a cost.

    Each is fitted to its own bootstrapped targets, from its own first weights and in its own order of minibatches, and
    knows nothing of the pessimism: where the data leave no doubt, they agree.
    """

    members: int = 5
    beta: float = 1.0

    def __post_init__(self):
        check_numbers(self, "beta")
        if self.members < 2:
            raise BadInput(f"Ensemble(members={self.members!r}): at least 2 can disagree")

    @property
    def critics(self) -> tuple[str, ...]:
        """Numbered."""
        return tuple(f"_{i + 1}" for i in range(self.members))

    def judge(self, critics: Sequence[Mlp], path: Trajectory, worse: float) -> Judged:
        """Advantages of the pessimistic value, targets of each critic's own."""
        pairs = [tuple(networks.value(c, x) for x in (path.obs, path.next_obs)) for c in critics]
        here, there = (jnp.stack(each) for each in zip(*pairs, strict=True))
        doubted = lambda values: values.mean(0) + worse * self.beta * values.std(0)
        targets = tuple(path.advantage(*pair) + pair[0] for pair in pairs)
        return Judged(path.advantage(doubted(here), doubted(there)), targets)


@dataclass(frozen=True)
class Wcpg:
    """Worst cases policy gradients (Tang et al., 2019): a critic of the return's variance, and its worst share `alpha`.

        Var(s) = E[δ² + γ² Var(s')],   δ = x + γ V(s') − V(s)
        V_α = V ∓ φ(Φ⁻¹(α))/α · √Var

    V_α is the return's mean over its worst share α, if it is Gaussian (its CVaR); with α = 1 that is V.
    """

    alpha: float = 0.5

    def __post_init__(self):
        if not 0 < self.alpha <= 1:
            raise BadInput(f"Wcpg(alpha={self.alpha!r}): a share lies above 0 and at most 1")

    @property
    def critics(self) -> tuple[str, ...]:
        """The value's, and the variance's."""
        return ("", "_variance")

    @property
    def deviations(self) -> float:
        """By how many standard deviations the worst share's mean is worse than the mean."""
        if self.alpha == 1:
            return 0.0
        normal = NormalDist()
        return normal.pdf(normal.inv_cdf(self.alpha)) / self.alpha

    def judge(self, critics: Sequence[Mlp], path: Trajectory, worse: float) -> Judged:
        """Advantages of V_α, targets of V and of its variance."""
        at = path.obs, path.next_obs
        pairs = [tuple(networks.value(critic, x) for x in at) for critic in critics]
        value, variance = pairs
        advantage = path.advantage(*value)
        spread = path.variance(path.error(*value), *variance)
        worst = (
            v + worse * self.deviations * jnp.sqrt(jnp.maximum(var, 0.0))
            for v, var in zip(value, variance, strict=True)
        )
        return Judged(path.advantage(*worst), (advantage + value[0], spread + variance[0]))
