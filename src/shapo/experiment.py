"""What a training is: every choice, by name and number. `config.json` is this and nothing else.

Kept free of JAX and of every environment, so that a command line, a sweep or a report can read it in no time.
Radii and damping are *per action dimension*, as all published code counts them; the builder multiplies by the number of
action dimensions to get the true KL that the library works with (docs/fidelity.md).
"""

import dataclasses
import difflib
import typing
from dataclasses import dataclass
from typing import Literal

Algo = Literal[
    "trpo", "trpo-lagrangian", "trpo-pid", "crpo", "cpo", "cpo-as-released", "saute",
    "ppo", "ppo-lagrangian", "ppo-saute",
]  # fmt: skip
GradientRule = Literal["plain", "sam", "shapo"]
CriticRule = Literal["plain", "sam"]
Schedule = Literal["fixed", "alpha", "effective-alpha", "decay"]

_AT_LEAST_ONE = (
    "steps", "num_envs", "steps_per_env", "cg_iterations", "ppo_epochs", "ppo_minibatch", "hidden", "critic_epochs",
    "critic_minibatch",
)  # fmt: skip
_UNBOUNDED = ("env", "saute_unsafe_reward")


@dataclass(frozen=True)
class Experiment:
    """One training run, completely described. `presets.experiment` fills it with the published values."""

    env: str = "SafetyPointGoal1-v0"
    """Environment id (`shapo envs` lists them; any Gymnasium id works too)."""
    algo: Algo = "trpo-pid"
    """Algorithm (`shapo algos` explains them)."""
    gradient: GradientRule = "plain"
    """Where the actor's slope is measured: here (plain), at the worst parameters nearby (sam, that is E-SAM), or at the
    worst policy nearby (shapo)."""
    critic_gradient: CriticRule = "plain"
    """Likewise for the critics. The paper's SHAPO uses sam here."""
    seed: int = 0
    """Decides everything random."""
    steps: int = 10_000_000
    """Environment steps in all."""
    cost_limit: tuple[float, ...] = (10.0,)
    """Bound on the expected cost of an episode, one per cost signal."""

    num_envs: int = 20
    """Environments stepped side by side."""
    steps_per_env: int = 1000
    """Steps of each environment per iteration; num_envs x steps_per_env is the batch."""
    workers: int = 0
    """Worker processes; 0: one per core."""

    radius: float = 0.01
    """Trust region of a policy update: KL per action dimension (TRPO family)."""
    damping: float = 0.1
    """Added to the Fisher matrix, per action dimension."""
    cg_iterations: int = 15
    """At most so many conjugate-gradient iterations per solve; they begin with one state in ten, and two or three with
    all of them usually do."""
    cg_tolerance: float = 0.02
    """Relative residual at which a solve stops."""

    schedule: Schedule = "fixed"
    """How SHAPO's pessimism evolves: a fixed radius, a fixed tail probability alpha (counting every sample, or only the
    effective ones), or the release's radius / sqrt(iteration + 1)."""
    pessimism: float = 1e-4
    """SHAPO's radius delta_down: KL per action dimension (fixed, decay)."""
    alpha: float = 0.05
    """SHAPO's tail probability (alpha, effective-alpha)."""
    rho: float = 0.05
    """E-SAM's radius in parameter space (gradient sam)."""
    rho_critic: float = 0.01
    """Radius in parameter space of the SAM critics."""

    multiplier_init: float = 0.001
    """First Lagrange multiplier; for PID, the first integral term."""
    multiplier_rate: float = 0.035
    """Adam's learning rate for the multiplier (trpo-lagrangian, ppo-lagrangian)."""
    pid_kp: float = 0.1
    """Proportional gain (trpo-pid)."""
    pid_ki: float = 0.01
    """Integral gain (trpo-pid)."""
    pid_kd: float = 0.01
    """Derivative gain (trpo-pid)."""
    tolerance: float = 0.0
    """CRPO reduces cost only where it exceeds the limit by this."""

    saute_discount: float = 0.999
    """Discount of the remaining safety budget (saute)."""
    saute_unsafe_reward: float = -1.0
    """Reward once the budget is spent (saute)."""

    ppo_rate: float = 3e-4
    """Adam's learning rate for the actor, falling linearly to 0 (PPO family)."""
    ppo_clip: float = 0.2
    """Probability ratios count within 1 +- this (PPO family)."""
    ppo_epochs: int = 40
    """At most so many passes over a batch (PPO family)."""
    ppo_minibatch: int = 64
    """Rows per gradient step (PPO family)."""
    ppo_stop_kl: float = 0.02
    """Stop the passes once the policy has moved this far: KL summed over action dimensions (PPO family)."""

    discount: float = 0.99
    """Of future rewards and costs."""
    gae: float = 0.95
    """Lambda of generalised advantage estimation."""
    hidden: tuple[int, ...] = (64, 64)
    """Hidden layers of actor and critics, tanh."""
    critic_rate: float = 1e-3
    """Adam's learning rate for the critics."""
    critic_epochs: int = 10
    """Passes over a batch when fitting the critics."""
    critic_minibatch: int = 128
    """Rows per gradient step of a critic."""
    critic_decay: float = 1e-3
    """Weight of the squared parameters in a critic's loss."""
    episode_window: int = 0
    """The constraint sees the mean cost of so many last episodes; 0: of those that ended in this iteration."""

    @property
    def batch_steps(self) -> int:
        """Environment steps per iteration."""
        return self.num_envs * self.steps_per_env

    @property
    def iterations(self) -> int:
        """Iterations in all; the last batch is whole, so `steps` is rounded up."""
        return -(-self.steps // self.batch_steps)

    def check(self) -> None:
        """Raise ValueError, naming the choice and what it may be, unless every choice makes sense."""
        for name, hint in typing.get_type_hints(type(self)).items():
            value = getattr(self, name)
            if typing.get_origin(hint) is Literal:
                _check_word(name, value, typing.get_args(hint))
            elif name not in _UNBOUNDED:
                _check_numbers(name, value, 1 if name in _AT_LEAST_ONE else 0)

    def replace(self, **changes) -> "Experiment":
        """A copy with some choices made differently."""
        return dataclasses.replace(self, **changes)

    def essence(self, *set_aside: str) -> "Experiment":
        """What decides the result: two experiments are the same if their essences are equal.

        The number of workers never counts, nor do the choices that are `set_aside`: those are put at their defaults.
        """
        names = ("workers", *set_aside)
        return self.replace(
            **{f.name: f.default for f in dataclasses.fields(self) if f.name in names}
        )


def _check_word(name: str, word: str, words: tuple[str, ...]) -> None:
    if word not in words:
        near = difflib.get_close_matches(str(word), words, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"{name} {word!r} is none of {', '.join(words)}{meant}")


def _check_numbers(name: str, value: float | tuple[float, ...], least: int) -> None:
    numbers = value if isinstance(value, tuple) else (value,)
    if not numbers or not all(number >= least for number in numbers):
        shown = numbers[0] if len(numbers) == 1 else value
        raise ValueError(f"{name} is {shown}; it must be at least {least}")
