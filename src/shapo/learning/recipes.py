"""From the names and numbers of an `Experiment` to the rules they stand for.

Published radii and damping are per action dimension; here they become true KL, summed over dimensions. A choice of one
action among several is one dimension.
"""

from typing import Any

from shapo.algorithms import (
    Algorithm,
    AsReleased,
    cpo,
    crpo,
    cup,
    focops,
    ipo,
    npg,
    p3o,
    pcpo,
    ppo,
    ppo_lagrangian,
    ppo_pid,
    rcpo,
    saute,
    simmer,
    trpo,
    trpo_lagrangian,
    trpo_pid,
)
from shapo.experiment import Experiment
from shapo.experiment.extensions import IN_ALGO, asked_by, make
from shapo.learning.values import Ensemble, Mean, Values, Wcpg
from shapo.rules.critics import Critics
from shapo.rules.gradients import Gradient, Plain, Sam, Shapo
from shapo.rules.multipliers import Ascent, Barrier, Bounded, Pid
from shapo.rules.projections import in_kl, in_l2
from shapo.rules.schedules import Alpha, Decay, EffectiveAlpha, Schedule
from shapo.rules.steps import FisherSolver
from shapo.words import BadInput


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
    limit = experiment.cost_limit
    if experiment.gradient == IN_ALGO:
        return _own(experiment.algo, cost_limit=limit)
    rule = gradient(experiment, action_size)
    damping = experiment.damping_per_dim * action_size
    region = {
        "radius": experiment.radius_per_dim * action_size,
        "solver": FisherSolver(damping, experiment.cg_iterations, experiment.cg_tolerance),
    }
    epochs = {
        "gradient": rule,
        "rate": experiment.ppo_rate,
        "epochs": experiment.ppo_epochs,
        "minibatch": experiment.ppo_minibatch,
        "stop_kl": experiment.ppo_stop_kl,
        "solver": FisherSolver(damping, iterations=10, tolerance=0.05, thinning=1),
    }
    clipped: dict[str, Any] = epochs | {"clip": experiment.ppo_clip}
    first = experiment.multiplier_init
    ascent = Ascent(first, experiment.multiplier_rate)
    pid = Pid(first, experiment.pid_kp, experiment.pid_ki, experiment.pid_kd)
    bounded = Bounded(first, experiment.multiplier_rate, experiment.multiplier_max)
    budget = {
        "budget": limit,
        "discount": experiment.saute_discount,
        "unsafe_reward": experiment.saute_unsafe_reward,
    }
    both = {"cost_limit": limit, "reward_gradient": rule, "cost_gradient": rule}
    match experiment.algo:
        case "trpo":
            return trpo(gradient=rule, **region)
        case "trpo-lagrangian":
            return trpo_lagrangian(cost_limit=limit, gradient=rule, multiplier=ascent, **region)
        case "trpo-pid":
            return trpo_pid(cost_limit=limit, gradient=rule, pid=pid, **region)
        case "crpo":
            tolerance = experiment.crpo_tolerance
            return crpo(cost_limit=limit, tolerance=tolerance, gradient=rule, **region)
        case "cpo":
            return cpo(**both, **region)
        case "cpo-as-released":
            return cpo(subproblem=AsReleased(), **both, **region)
        case "pcpo":
            projection = {"kl": in_kl, "l2": in_l2}[experiment.pcpo_projection]
            return pcpo(projection=projection, **both, **region)
        case "npg":
            return npg(gradient=rule, **region)
        case "rcpo":
            return rcpo(cost_limit=limit, gradient=rule, multiplier=ascent, **region)
        case "saute":
            return saute(base=trpo(gradient=rule, **region), **budget)
        case "simmer":
            control = {
                "start": experiment.simmer_start,
                "kp": experiment.simmer_kp,
                "ki": experiment.simmer_ki,
            }
            return simmer(base=trpo(gradient=rule, **region), **budget, **control)
        case "ppo-saute":
            return saute(base=ppo(**clipped), **budget)
        case "ppo":
            return ppo(**clipped)
        case "ppo-lagrangian":
            return ppo_lagrangian(cost_limit=limit, multiplier=ascent, **clipped)
        case "ppo-pid":
            return ppo_pid(cost_limit=limit, pid=pid, **clipped)
        case "ipo":
            barrier = Barrier(experiment.ipo_sharpness, experiment.multiplier_max)
            return ipo(cost_limit=limit, barrier=barrier, **clipped)
        case "p3o":
            return p3o(cost_limit=limit, weight=experiment.p3o_weight, **clipped)
        case "focops":
            temperature = experiment.focops_temperature
            return focops(cost_limit=limit, multiplier=bounded, temperature=temperature, **epochs)
        case "cup":
            estimate = {"discount": experiment.discount, "gae": experiment.gae}
            return cup(cost_limit=limit, multiplier=bounded, **estimate, **clipped)
        case own:
            if experiment.gradient != "plain" and "gradient" not in asked_by(own):
                raise BadInput(f"{own} takes no gradient rule; leave gradient at plain")
            return _own(own, gradient=rule, cost_limit=limit)


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


def _own(name: str, **offered: Any) -> Algorithm:
    made = make(name, **offered)
    if not isinstance(made, Algorithm):
        raise BadInput(
            f"{name} returned a {type(made).__name__}, which is no algorithm: that has init, update and environment"
        )
    return made


def _callable(name: str, what: str) -> Any:
    made = make(name)
    if not callable(made):
        raise BadInput(f"{name} returned a {type(made).__name__}, which is no {what}")
    return made
