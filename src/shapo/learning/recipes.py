"""From the names and numbers of an `Experiment` to the rules they stand for.

Published radii and damping are per action dimension; here they become true KL, summed over dimensions.
"""

from shapo.algorithms import (
    Algorithm,
    AsReleased,
    cpo,
    crpo,
    ppo,
    ppo_lagrangian,
    saute,
    trpo,
    trpo_lagrangian,
    trpo_pid,
)
from shapo.experiment import Experiment
from shapo.rules.critics import Critics
from shapo.rules.gradients import Gradient, Plain, Sam, Shapo
from shapo.rules.multipliers import Ascent, Pid
from shapo.rules.schedules import Alpha, Decay, EffectiveAlpha, Schedule
from shapo.rules.steps import FisherSolver


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
    raise ValueError(
        f"schedule {experiment.schedule!r} is unknown; choose fixed, decay, alpha or effective-alpha"
    )


def gradient(experiment: Experiment, action_size: int) -> Gradient:
    """The actor's gradient rule."""
    match experiment.gradient:
        case "plain":
            return Plain()
        case "sam":
            return Sam(experiment.rho)
        case "shapo":
            return Shapo(pessimism(experiment, action_size))
    raise ValueError(f"gradient {experiment.gradient!r} is unknown; choose plain, sam or shapo")


def algorithm(experiment: Experiment, action_size: int) -> Algorithm:
    """The algorithm with its gradient rule."""
    rule = gradient(experiment, action_size)
    limit = experiment.cost_limit
    solver = FisherSolver(
        experiment.damping * action_size, experiment.cg_iterations, experiment.cg_tolerance
    )
    region = {"radius": experiment.radius * action_size, "solver": solver}
    clipped = {
        "gradient": rule,
        "rate": experiment.ppo_rate,
        "clip": experiment.ppo_clip,
        "epochs": experiment.ppo_epochs,
        "minibatch": experiment.ppo_minibatch,
        "stop_kl": experiment.ppo_stop_kl,
        "solver": FisherSolver(solver.damping, iterations=10, tolerance=0.05, thinning=1),
    }
    ascent = Ascent(experiment.multiplier_init, experiment.multiplier_rate)
    budget = {
        "discount": experiment.saute_discount,
        "unsafe_reward": experiment.saute_unsafe_reward,
    }
    match experiment.algo:
        case "trpo":
            return trpo(gradient=rule, **region)
        case "trpo-lagrangian":
            return trpo_lagrangian(cost_limit=limit, gradient=rule, multiplier=ascent, **region)
        case "trpo-pid":
            pid = Pid(
                experiment.multiplier_init, experiment.pid_kp, experiment.pid_ki, experiment.pid_kd
            )
            return trpo_pid(cost_limit=limit, gradient=rule, pid=pid, **region)
        case "crpo":
            return crpo(cost_limit=limit, tolerance=experiment.tolerance, gradient=rule, **region)
        case "cpo":
            return cpo(cost_limit=limit, reward_gradient=rule, cost_gradient=rule, **region)
        case "cpo-as-released":
            return cpo(
                cost_limit=limit,
                reward_gradient=rule,
                cost_gradient=rule,
                subproblem=AsReleased(),
                margin_rate=0.0,
                **region,
            )
        case "saute":
            return saute(budget=limit, base=trpo(gradient=rule, **region), **budget)
        case "ppo-saute":
            return saute(budget=limit, base=ppo(**clipped), **budget)
        case "ppo":
            return ppo(**clipped)
        case "ppo-lagrangian":
            return ppo_lagrangian(cost_limit=limit, multiplier=ascent, **clipped)
    raise ValueError(f"algo {experiment.algo!r} is unknown; `shapo algos` lists them")


def critics(experiment: Experiment) -> Critics:
    """How the critics are fitted."""
    return Critics(
        gradient=Sam(experiment.rho_critic) if experiment.critic_gradient == "sam" else Plain(),
        rate=experiment.critic_rate,
        minibatch=experiment.critic_minibatch,
        epochs=experiment.critic_epochs,
        decay=experiment.critic_decay,
    )
