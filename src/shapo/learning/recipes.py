"""From the names and numbers of an `Experiment` to the rules they stand for.

Published radii and damping are per action dimension; here they become true KL, summed over dimensions. A choice of one
action among several is one dimension.
"""

from collections.abc import Callable
from typing import Any

from shapo import algorithms
from shapo.algorithms import Algorithm, AsReleased
from shapo.experiment import Algo, Experiment
from shapo.experiment.algos import ALGOS, CostKind, StepKind
from shapo.experiment.extensions import IN_ALGO, asked_by, make
from shapo.learning.values import Ensemble, Mean, Values, Wcpg
from shapo.rules.critics import Critics
from shapo.rules.gradients import Gradient, Plain, Sam, Shapo
from shapo.rules.multipliers import Ascent, Barrier, Bounded, Pid
from shapo.rules.projections import in_kl, in_l2
from shapo.rules.schedules import Alpha, Decay, EffectiveAlpha, Schedule
from shapo.rules.steps import FisherSolver
from shapo.words import BadInput

Keywords = dict[str, Any]


def pessimism(experiment: Experiment, action_size: int) -> float | Schedule:
    """SHAPO's radius, as a number or a schedule."""
    match experiment.schedule:
        case "fixed":
            return experiment.pessimism * action_size
        case "decay":
            return Decay(experiment.pessimism * action_size)
        case "alpha":
            return Alpha(experiment.alpha)
        case "effective-alpha":
            return EffectiveAlpha(experiment.alpha)
        case own:
            return _callable(own, "schedule, a function of progress")


def gradient(experiment: Experiment, action_size: int) -> Gradient:
    """The actor's gradient rule."""
    match experiment.gradient:
        case "plain":
            return Plain()
        case "sam":
            return Sam(experiment.rho)
        case "shapo":
            return Shapo(pessimism(experiment, action_size))
        case own:
            return _callable(own, "gradient rule")


def algorithm(experiment: Experiment, action_size: int) -> Algorithm:
    """The algorithm with its gradient rule."""
    name, limit = experiment.algo, experiment.cost_limit
    if experiment.gradient == IN_ALGO:
        return _own(name, cost_limit=limit)
    rule = gradient(experiment, action_size)
    if name in ALGOS:
        row = ALGOS[name]
        step = _step(row.step, experiment, action_size) | {"gradient": rule}
        return BUILDERS[name](experiment, step, _cost(row.cost, experiment))
    if experiment.gradient != "plain" and "gradient" not in asked_by(name):
        raise BadInput(f"{name} takes no gradient rule; leave gradient at plain")
    return _own(name, gradient=rule, cost_limit=limit)


def _step(kind: StepKind, x: Experiment, action_size: int) -> Keywords:
    """The keywords of a kind of step."""
    damping = x.damping_per_dim * action_size
    if kind == "trust region":
        solver = FisherSolver(damping, x.cg_iterations, x.cg_tolerance)
        return {"radius": x.radius_per_dim * action_size, "solver": solver}
    clip = {"clip": x.ppo_clip} if kind == "clipped epochs" else {}
    return clip | {
        "rate": x.ppo_rate,
        "epochs": x.ppo_epochs,
        "minibatch": x.ppo_minibatch,
        "stop_kl": x.ppo_stop_kl,
        "solver": FisherSolver(damping, iterations=10, tolerance=0.05, thinning=1),
    }


def _cost(kind: CostKind, x: Experiment) -> Keywords:
    """The keywords of a kind of dealing with cost."""
    limit, first = {"cost_limit": x.cost_limit}, x.multiplier_init
    match kind:
        case "ignored":
            return {}
        case "seen":
            return limit
        case "ascent":
            return limit | {"multiplier": Ascent(first, x.multiplier_rate)}
        case "pid":
            return limit | {"pid": Pid(first, x.pid_kp, x.pid_ki, x.pid_kd)}
        case "bounded":
            return limit | {"multiplier": Bounded(first, x.multiplier_rate, x.multiplier_max)}
        case "budget":
            own = {"discount": x.saute_discount, "unsafe_reward": x.saute_unsafe_reward}
            return {"budget": x.cost_limit, **own}


def _both(gradient: Gradient, **others: Any) -> Keywords:
    """One rule for the slopes of reward and cost."""
    return {"reward_gradient": gradient, "cost_gradient": gradient, **others}


BUILDERS: dict[Algo, Callable[[Experiment, Keywords, Keywords], Algorithm]] = {
    "trpo": lambda x, step, cost: algorithms.trpo(**step, **cost),
    "trpo-lagrangian": lambda x, step, cost: algorithms.trpo_lagrangian(**step, **cost),
    "trpo-pid": lambda x, step, cost: algorithms.trpo_pid(**step, **cost),
    "crpo": lambda x, step, cost: algorithms.crpo(tolerance=x.crpo_tolerance, **step, **cost),
    "cpo": lambda x, step, cost: algorithms.cpo(**_both(**step), **cost),
    "cpo-as-released": lambda x, step, cost: algorithms.cpo(
        subproblem=AsReleased(), **_both(**step), **cost
    ),
    "pcpo": lambda x, step, cost: algorithms.pcpo(
        projection={"kl": in_kl, "l2": in_l2}[x.pcpo_projection], **_both(**step), **cost
    ),
    "npg": lambda x, step, cost: algorithms.npg(**step, **cost),
    "rcpo": lambda x, step, cost: algorithms.rcpo(**step, **cost),
    "saute": lambda x, step, cost: algorithms.saute(base=algorithms.trpo(**step), **cost),
    "simmer": lambda x, step, cost: algorithms.simmer(
        base=algorithms.trpo(**step), start=x.simmer_start, kp=x.simmer_kp, ki=x.simmer_ki, **cost
    ),
    "ppo": lambda x, step, cost: algorithms.ppo(**step, **cost),
    "ppo-lagrangian": lambda x, step, cost: algorithms.ppo_lagrangian(**step, **cost),
    "ppo-pid": lambda x, step, cost: algorithms.ppo_pid(**step, **cost),
    "ppo-saute": lambda x, step, cost: algorithms.saute(base=algorithms.ppo(**step), **cost),
    "ipo": lambda x, step, cost: algorithms.ipo(
        barrier=Barrier(x.ipo_sharpness, x.multiplier_max), **step, **cost
    ),
    "p3o": lambda x, step, cost: algorithms.p3o(weight=x.p3o_weight, **step, **cost),
    "focops": lambda x, step, cost: algorithms.focops(
        temperature=x.focops_temperature, **step, **cost
    ),
    "cup": lambda x, step, cost: algorithms.cup(discount=x.discount, gae=x.gae, **step, **cost),
}
"""Of an experiment, the keywords of its kind of step, and those of its kind of dealing with cost: each algorithm."""


def critics(experiment: Experiment) -> Critics:
    """How the critics are fitted."""
    match experiment.critic_gradient:
        case "plain":
            rule = Plain()
        case "sam":
            rule = Sam(experiment.rho_critic)
        case own:
            rule = _callable(own, "gradient rule")
    return Critics(
        gradient=rule,
        rate=experiment.critic_rate,
        minibatch=experiment.critic_minibatch,
        epochs=experiment.critic_epochs,
        decay=experiment.critic_decay,
    )


def values(experiment: Experiment) -> Values:
    """How the critics' values become advantages."""
    match experiment.values:
        case "ensemble":
            return Ensemble(experiment.value_members, experiment.value_beta)
        case "wcpg":
            return Wcpg(experiment.value_alpha)
    return Mean()


def require_algorithm(made: Any, said: str = "algorithm is") -> Algorithm:
    """`made`, if it is one; BadInput, beginning with what is `said` of it, if not."""
    if isinstance(made, type):  # it has all of these, too
        raise BadInput(f"{said} the class {made.__name__}; give what it makes, {made.__name__}(…)")
    if not isinstance(made, Algorithm):
        raise BadInput(
            f"{said} a {type(made).__name__}, which is no algorithm: that has init, update and environment"
        )
    return made


def _own(name: str, **offered: Any) -> Algorithm:
    return require_algorithm(make(name, **offered), f"{name} returned")


def _callable(name: str, what: str) -> Any:
    made = make(name)
    if not callable(made):
        raise BadInput(f"{name} returned a {type(made).__name__}, which is no {what}")
    return made
