"""Every choice of a training, by name and number. `config.json` is this and nothing else.

What ends in `per_dim`, and `pessimism`, is per action dimension, as all published code counts it; `learning.recipes`
multiplies by their number, 1 for a choice among several, to get the KL that the rules work with (docs/fidelity.md).
"""

import dataclasses
import functools
from collections.abc import Mapping
from typing import Annotated, Any

from shapo.experiment import algos
from shapo.experiment.algos import EPOCHS, PID, SAUTE, TRUST_REGION, Algo
from shapo.experiment.choices import OWN, OWN_RULES, OnlyWith, Range, kinds
from shapo.experiment.names import (
    CostSignal,
    CriticRule,
    GradientRule,
    Projection,
    ScheduleRule,
    ValueRule,
    canonical,
)
from shapo.experiment.published import published

PUBLISHED: Any = None
"""A choice left open: as published for the environment, the algorithm and the gradient rule."""
DECISIVE = ("env", "algo", "gradient")
"""What the published values of other choices depend on."""

Positive = Range(0, open="low")
NotNegative = Range(0)
Share = Range(0, 1)
Count = Annotated[int, Range(1)]

SECTIONS = {
    "env": "what is trained",
    "num_envs": "how experience is collected",
    "radius_per_dim": "trust region (all but the PPO family)",
    "schedule": "pessimism of actor and critics (gradient shapo or sam)",
    "multiplier_init": "constraint",
    "saute_discount": "Sauté and Simmer",
    "ppo_rate": "PPO family",
    "discount": "advantages, networks and critics",
}
"""What the choices of an experiment are about, each section under the name of its first."""

TrustRegionOnly = OnlyWith(algo=TRUST_REGION)
PpoOnly = OnlyWith(algo=EPOCHS)
OursOnly = OnlyWith(algo=(*TRUST_REGION, *EPOCHS))
FisherOnly = OnlyWith(algo=TRUST_REGION, gradient=("shapo", OWN))
PidOnly = OnlyWith(algo=PID)
SimmerOnly = OnlyWith(algo=("simmer",))
SauteOnly = OnlyWith(algo=SAUTE)
EnsembleOnly = OnlyWith(values=("ensemble",))
ShapoOnly = OnlyWith(gradient=("shapo",))


@dataclasses.dataclass(frozen=True)
class Experiment:
    """One training run, completely described. What is not chosen is as published for the environment and algorithm."""

    env: str = "SafetyPointGoal1-v0"
    """Environment id (`shapo envs` lists them; any Gymnasium id works too), or module:factory of your own."""
    algo: Algo | str = "trpo-pid"
    """Algorithm (`shapo algos` explains them), or module:factory of your own."""
    gradient: GradientRule | str = "plain"
    """Where the actor's slope is measured: here (plain), at the worst parameters nearby (sam, that is E-SAM), or at the
    worst policy nearby (shapo); or module:factory of your own."""
    critic_gradient: CriticRule | str = PUBLISHED
    """Where the critics' slope is measured: here (plain) or at the worst parameters nearby (sam); or module:factory of
    your own. --gradient shapo sets it to sam, as in the paper, unless you say otherwise."""
    seed: Annotated[int, Range(0, 1_000_000_000)] = 0
    """Decides everything random."""
    steps: Count = PUBLISHED
    """Environment steps in all."""
    cost_limit: Annotated[tuple[float, ...], NotNegative] = PUBLISHED
    """Bound on the expected cost of an episode, one per cost signal."""
    cost: CostSignal | str = "own"
    """What a step costs: what the environment says (own), or your function of Gymnasium's (obs, action, info)."""

    num_envs: Count = 20
    """Environments stepped side by side."""
    steps_per_env: Count = 1000
    """Steps of each environment per iteration; num_envs x steps_per_env is the batch."""
    workers: Annotated[int, NotNegative] = 0
    """Worker processes; 0: one per core."""

    radius_per_dim: Annotated[float, Positive, TrustRegionOnly] = 0.01
    """Trust region of a policy update: KL per action dimension (TRPO family)."""
    damping_per_dim: Annotated[float, NotNegative, OursOnly, FisherOnly] = 0.1
    """Added to the Fisher matrix, per action dimension."""
    cg_iterations: Annotated[Count, TrustRegionOnly] = 15
    """At most so many conjugate-gradient iterations per solve; they begin with one state in ten, and two or three with
    all of them usually do."""
    cg_tolerance: Annotated[float, Range(0, 1, open="high"), TrustRegionOnly] = 0.02
    """Relative residual at which a solve stops."""

    schedule: Annotated[ScheduleRule | str, ShapoOnly] = "fixed"
    """How SHAPO's pessimism evolves: a fixed radius, a fixed tail probability alpha (counting every sample, or only the
    effective ones), or the release's radius / sqrt(iteration + 1); or module:factory of a function of progress."""
    pessimism: Annotated[float, NotNegative, ShapoOnly, OnlyWith(schedule=("fixed", "decay"))] = (
        1e-4
    )
    """SHAPO's radius delta_down: KL per action dimension (fixed, decay)."""
    alpha: Annotated[
        float,
        Range(0, 0.5, open="both"),
        ShapoOnly,
        OnlyWith(schedule=("alpha", "effective-alpha")),
    ] = 0.05
    """SHAPO's tail probability (alpha, effective-alpha)."""
    rho: Annotated[float, NotNegative, OnlyWith(gradient=("sam",))] = 0.05
    """E-SAM's radius in parameter space (gradient sam)."""
    rho_critic: Annotated[float, NotNegative, OnlyWith(critic_gradient=("sam",))] = 0.01
    """Radius in parameter space of the SAM critics."""

    multiplier_init: Annotated[
        float, NotNegative, OnlyWith(algo=(*algos.ASCENT, *PID, *algos.BOUNDED))
    ] = 0.001
    """First Lagrange multiplier; for PID, the first integral term."""
    multiplier_rate: Annotated[
        float, NotNegative, OnlyWith(algo=(*algos.ASCENT, *algos.BOUNDED))
    ] = PUBLISHED
    """Learning rate of the multiplier: Adam's (trpo-lagrangian, rcpo, ppo-lagrangian), or plain (focops, cup)."""
    multiplier_max: Annotated[float, Positive, OnlyWith(algo=(*algos.BOUNDED, "ipo"))] = PUBLISHED
    """The multiplier is never above this (focops, cup, ipo)."""
    pid_kp: Annotated[float, NotNegative, PidOnly] = 0.1
    """Proportional gain (trpo-pid, ppo-pid)."""
    pid_ki: Annotated[float, NotNegative, PidOnly] = 0.01
    """Integral gain (trpo-pid, ppo-pid)."""
    pid_kd: Annotated[float, NotNegative, PidOnly] = 0.01
    """Derivative gain (trpo-pid, ppo-pid)."""
    crpo_tolerance: Annotated[float, NotNegative, OnlyWith(algo=("crpo",))] = 0.0
    """Cost is reduced only where it exceeds the limit by this (crpo)."""
    pcpo_projection: Annotated[Projection, OnlyWith(algo=("pcpo",))] = "kl"
    """What is near when a step is projected: a similar policy (kl) or similar parameters (l2) (pcpo)."""
    ipo_sharpness: Annotated[float, Positive, OnlyWith(algo=("ipo",))] = 20.0
    """The barrier before the limit is log(limit - cost) divided by this (ipo)."""
    p3o_weight: Annotated[float, NotNegative, OnlyWith(algo=("p3o",))] = 20.0
    """Price of expected cost above the limit (p3o)."""
    focops_temperature: Annotated[float, Positive, OnlyWith(algo=("focops",))] = 1.5
    """How far the best policy nearby is from the current one: less is further (focops)."""

    saute_discount: Annotated[float, Range(0, 1, open="low"), SauteOnly] = PUBLISHED
    """Discount of the remaining safety budget (saute, simmer)."""
    saute_unsafe_reward: Annotated[float, SauteOnly] = PUBLISHED
    """Reward once the budget is spent (saute, simmer)."""
    simmer_start: Annotated[float, Range(0, 1, open="low"), SimmerOnly] = 0.1
    """Share of the limit that the first episodes may spend (simmer)."""
    simmer_kp: Annotated[float, NotNegative, SimmerOnly] = 0.05
    """Proportional gain of the budget's controller (simmer)."""
    simmer_ki: Annotated[float, NotNegative, SimmerOnly] = 0.005
    """Integral gain of the budget's controller (simmer)."""

    ppo_rate: Annotated[float, Positive, PpoOnly] = 3e-4
    """Adam's learning rate for the actor, falling linearly to 0 (PPO family)."""
    ppo_clip: Annotated[float, Positive, OnlyWith(algo=algos.CLIPPED)] = 0.2
    """Probability ratios count within 1 +- this (PPO family but focops)."""
    ppo_epochs: Annotated[Count, PpoOnly] = PUBLISHED
    """At most so many passes over a batch (PPO family)."""
    ppo_minibatch: Annotated[Count, PpoOnly] = 64
    """Rows per gradient step (PPO family)."""
    ppo_stop_kl: Annotated[float, Positive, PpoOnly] = 0.02
    """Stop the passes once the policy has moved this far: KL summed over action dimensions (PPO family)."""

    discount: Annotated[float, Share] = 0.99
    """Of future rewards and costs."""
    gae: Annotated[float, Share] = 0.95
    """Lambda of generalised advantage estimation."""
    hidden: Annotated[tuple[int, ...], Range(1)] = (64, 64)
    """Hidden layers of actor and critics, tanh."""
    critic_rate: Annotated[float, Positive] = PUBLISHED
    """Adam's learning rate for the critics."""
    critic_epochs: Count = 10
    """Passes over a batch when fitting the critics."""
    critic_minibatch: Count = PUBLISHED
    """Rows per gradient step of a critic."""
    critic_decay: Annotated[float, NotNegative] = 1e-3
    """Weight of the squared parameters in a critic's loss."""
    values: ValueRule = "mean"
    """What advantages see: values (mean), made worse by critics' disagreement (ensemble), of the worst share (wcpg)."""
    value_members: Annotated[int, Range(2), EnsembleOnly] = 5
    """Critics per signal (ensemble)."""
    value_beta: Annotated[float, NotNegative, EnsembleOnly] = 1.0
    """By how many standard deviations of the critics a value is made worse (ensemble)."""
    value_alpha: Annotated[float, Range(0, 1, open="low"), OnlyWith(values=("wcpg",))] = 0.5
    """The worst share of the returns whose mean counts (wcpg)."""
    episode_window: Annotated[
        int, NotNegative, OnlyWith(algo=(*algos.SEES_EPISODE_COST, OWN), **OWN_RULES)
    ] = 0
    """The constraint sees the mean cost of so many last episodes; 0: of those that ended in this iteration."""

    @property
    def batch_steps(self) -> int:
        """Environment steps per iteration."""
        return self.num_envs * self.steps_per_env

    @property
    def iterations(self) -> int:
        """Iterations in all; the last batch is whole, so `steps` is rounded up."""
        return -(-self.steps // self.batch_steps)

    def __post_init__(self):
        """Fill in what was published, and raise BadInput, naming the choice, unless every choice makes sense."""
        of = kinds(type(self))
        self._set({name: of[name].normal(name, getattr(self, name)) for name in DECISIVE})
        self._set({"env": canonical(self.env)})
        for name, value in published(self.env, self.algo, self.gradient).items():
            if getattr(self, name) is PUBLISHED:
                self._set({name: value})
        self._set({name: kind.normal(name, getattr(self, name)) for name, kind in of.items()})

    def _set(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def names(self) -> dict[str, str]:
        """The choices that are made by name and do something."""
        idle = self.idle()
        fields = (name for name, kind in kinds(type(self)).items() if kind.item is str)
        return {name: getattr(self, name) for name in fields if name not in idle}

    def idle(self) -> dict[str, str]:
        """The choices that do nothing here, each with what it would need."""
        return {
            name: " and ".join(map(str, unmet))
            for name, kind in kinds(type(self)).items()
            if (unmet := [each for each in kind.conditions if not each.met_by(self)])
        }

    @functools.lru_cache(maxsize=4096)  # noqa: B019 - every run is compared with every arm
    def essence(self, *set_aside: str) -> "Experiment":
        """What decides the result: two experiments are the same if their essences are equal.

        Workers never count, nor does what does nothing here or is `set_aside`: all that is put at its default.
        """
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        usual = lambda names: {name: defaults[name] for name in names}
        counted = dataclasses.replace(self, **usual(("workers", *set_aside)))
        return dataclasses.replace(counted, **usual(counted.idle()))

    def replace(self, **changes: Any) -> "Experiment":
        """A copy with other choices; what was as published is so for these, too (`dataclasses.replace` keeps it)."""
        if changes.keys() & {*DECISIVE}:
            usual = published(self.env, self.algo, self.gradient)
            changes = {n: PUBLISHED for n in usual if getattr(self, n) == usual[n]} | changes
        return dataclasses.replace(self, **changes)
