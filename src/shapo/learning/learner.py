"""Learning from a batch: advantages, the policy update, the statistics, the critics. Pure functions of arrays.

`learn` is the whole of it. It is made of two halves, because only the first must be over before the next batch can be
collected: the critics are needed again when that batch's advantages are estimated, so fitting them may overlap with
collecting, and nothing changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array

from shapo.algorithms.search import Algorithm
from shapo.experiment import Experiment
from shapo.learning import recipes
from shapo.learning.appraisal import appraise
from shapo.learning.compiling import require_constant
from shapo.learning.normalization import frozen, merge, nothing_seen, statistics_of, unnormalized
from shapo.learning.renormalization import renormalized
from shapo.learning.state import TrainState
from shapo.learning.values import Mean, Values, critic_names
from shapo.rollout.acting import Actor
from shapo.rules import networks
from shapo.rules.critics import Critics
from shapo.rules.gradients import Metrics
from shapo.rules.networks import Mlp, Policy
from shapo.types import Batch, Progress, check, check_choices, check_sizes
from shapo.words import BadInput


class Todo(NamedTuple):
    """What fitting the critics needs."""

    obs: Array
    """[B, O] normalised."""
    targets: tuple[Array, ...]
    """[B] for each critic."""
    progress: Progress
    seed: tuple[int, ...]


@dataclass(frozen=True)
class Learner:
    """An algorithm, its critics and their networks, ready to learn."""

    algorithm: Algorithm
    critics: Critics
    observation_size: int
    action_size: int
    costs: int = 1
    hidden: tuple[int, ...] = (64, 64)
    discount: float = 0.99
    gae: float = 0.95
    iterations: int = field(default=500, compare=False)
    """Of the whole training, for rates that fall with it. Compiled code does not depend on it: a learner that differs
    from another in its iterations alone need not compile anything again."""
    values: Values = field(default_factory=Mean)
    """How the critics' values become advantages, and so how many critics each signal has."""
    choices: int | None = None
    """Of how many an action is one, by number; None: actions are real numbers."""

    def __post_init__(self):
        require_constant(self)

    @classmethod
    def build(
        cls,
        experiment: Experiment,
        observation_size: int,
        action_size: int,
        costs: int = 1,
        algorithm: Algorithm | None = None,
        choices: int | None = None,
    ) -> "Learner":
        """The learner that an experiment describes; `algorithm` overrides its algorithm."""
        return cls(
            algorithm or recipes.algorithm(experiment, action_size),
            recipes.critics(experiment),
            observation_size,
            action_size,
            costs,
            experiment.hidden,
            experiment.discount,
            experiment.gae,
            experiment.iterations,
            recipes.values(experiment),
            choices,
        )

    def init(self, seed: int) -> TrainState:
        """An untrained state.

        Its policy is indifferent: it acts the same whatever observations are normalised by, so the first batch can be
        collected without statistics and learned from with its own, and no step is spent on a warm-up.
        """
        critics = len(critic_names(self.values, self.costs))
        first, *others = np.random.default_rng(seed).spawn(1 + critics)
        sizes = self.observation_size, self.hidden, self.action_size, self.choices
        policy = networks.indifferent(networks.init_policy(first, *sizes))
        critic = lambda rng: self.critics.init(
            networks.init_critic(rng, self.observation_size, self.hidden)
        )
        return TrainState(
            policy,
            tuple(map(critic, others)),
            self.algorithm.init(policy),
            nothing_seen(self.observation_size),
            jax.random.PRNGKey(seed),
            np.int64(0),
            np.float64(0),
            np.float64(0),
        )

    def actor(self, state: TrainState) -> Actor:
        """The policy as acting needs it: NumPy arrays."""
        layers = jax.device_get(state.policy.layers)
        return Actor(
            tuple(layer.weight for layer in layers),
            tuple(layer.bias for layer in layers),
            jax.device_get(state.policy.log_std),
            *frozen(state.statistics),
        )

    def learn(
        self,
        state: TrainState,
        batch: Batch,
        episode_cost: Sequence[float],
        episode_length: float,
        episode_news: float = 1.0,
    ) -> tuple[TrainState, dict[str, float]]:
        """Everything that follows from one batch and from what its episodes were like on average."""
        state, todo, improved = self.improve(
            state, batch, episode_cost, episode_length, episode_news
        )
        state, fitted = self.fit(state, todo)
        return state, improved | fitted

    def improve(
        self,
        state: TrainState,
        batch: Batch,
        episode_cost: Sequence[float],
        episode_length: float,
        episode_news: float = 1.0,
    ) -> tuple[TrainState, Todo, dict[str, float]]:
        """Update the policy and the statistics; what remains to be done is to fit the critics."""
        check(batch)
        check_sizes(batch, episode_cost, self.observation_size, self.action_size, self.costs)
        if self.choices is not None:
            check_choices(batch, self.choices)
        known = state.statistics if state.statistics.count else statistics_of(batch.obs)
        mean, scale = frozen(known)
        iteration = int(state.iteration)
        progress = Progress(
            iteration=np.float32(iteration),
            samples=np.float32(state.samples + batch.reward.size),
            effective_samples=np.float32(state.effective_samples),
            episode_cost=np.asarray(episode_cost, np.float32),
            episode_length=np.float32(episode_length),
            remaining=np.float32(max(0.0, 1 - iteration / self.iterations)),
            episode_news=np.float32(episode_news),
        )
        key = jax.random.fold_in(state.key, iteration)
        values = tuple(critic.params for critic in state.critics)
        done = self._improve(
            state.policy, values, state.algorithm, (mean, scale), batch, progress, key
        )
        metrics = {name: _number(name, x) for name, x in jax.device_get(done.metrics).items()}

        seen = unnormalized(batch.reward.size, jax.device_get(done.moments), mean, scale)
        statistics = merge(state.statistics, seen)
        policy, drift = renormalized(done.policy, batch.obs, (mean, scale), frozen(statistics))
        metrics["statistics/kl"] = float(drift)
        state = state._replace(
            policy=policy,
            algorithm=done.algorithm,
            statistics=statistics,
            iteration=np.int64(iteration + 1),
            samples=state.samples + batch.reward.size,
            effective_samples=np.float64(done.effective_samples),
        )
        progress = progress._replace(effective_samples=np.float32(done.effective_samples))
        todo = Todo(done.obs, done.targets, progress, (*map(int, state.key), iteration))
        return state, todo, metrics

    def fit(self, state: TrainState, todo: Todo) -> tuple[TrainState, dict[str, float]]:
        """Fit every critic."""
        critics, losses = self.critics.fit(
            state.critics, todo.obs, todo.targets, todo.seed, todo.progress
        )
        named = zip(critic_names(self.values, self.costs), losses, strict=True)
        return state._replace(critics=critics), {f"critic/{name}_loss": x for name, x in named}

    @partial(jax.jit, static_argnums=0)
    def _improve(
        self,
        policy: Policy,
        critics: tuple[Mlp, ...],
        algorithm: Any,
        normalization: tuple[Array, Array],
        batch: Any,
        progress: Progress,
        key: Array,
    ) -> "_Improved":
        estimate = {"values": self.values, "discount": self.discount, "gae_decay": self.gae}
        seen = appraise(policy, critics, batch, normalization, **estimate)
        effective = progress.effective_samples + batch.reward.size / seen.autocorrelation
        progress = progress._replace(effective_samples=effective)
        policy, algorithm, metrics = self.algorithm.update(
            policy, algorithm, seen.samples, progress, key
        )
        metrics |= {
            "policy/entropy": networks.act(policy, seen.samples.obs).entropy(),
            "samples/effective": effective,
            "samples/autocorrelation": seen.autocorrelation,
        }
        mean, scale = normalization
        unclipped = ((batch.obs - mean) / scale).reshape(seen.samples.obs.shape)
        centre = unclipped.mean(0)
        return _Improved(
            policy,
            algorithm,
            metrics,
            seen.samples.obs,
            seen.targets,
            (centre, ((unclipped - centre) ** 2).sum(0)),
            effective,
        )


def _number(name: str, value: Any) -> float:
    if np.size(value) != 1:
        raise BadInput(f"the metric {name!r} is an array {np.shape(value)}; a metric is one number")
    return float(np.squeeze(value))


class _Improved(NamedTuple):
    policy: Policy
    algorithm: Any
    metrics: Metrics
    obs: Array
    targets: tuple[Array, ...]
    moments: tuple[Array, Array]
    effective_samples: Array
