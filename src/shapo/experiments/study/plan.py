"""Which arms the study runs, block by block in the order of worth, and what is compared. Written before the runs."""

from collections.abc import Iterable, Sequence

import numpy as np

from shapo.experiment import Experiment
from shapo.experiments.statistics import in_pairs
from shapo.experiments.study.questions import (
    ACTOR,
    ACTOR_SAFER,
    ACTOR_SPARES,
    CARRIES,
    COST_P80,
    COST_P95,
    COST_RATE,
    CRITICS,
    EARNS,
    FALLS,
    FALLS_AGAIN,
    FALLS_LESS,
    FISHER,
    RETURN,
    RETURN_ALL_ALONG,
    RHO,
    SAUTE_SPARES,
    SCHEDULED,
    SPARES,
    SPARES_TOO,
    TAILS,
    TOGETHER,
    TOGETHER_SPARES,
    TOO_FAR,
    UNCONSTRAINED,
    UNCONSTRAINED_LESS,
    Block,
    Claim,
    Contrast,
    runs_of,
)
from shapo.runs.folder import Run
from shapo.words import radius_text

FIRST_SEEDS = range(5)
"""By these the radius of the later blocks is chosen."""
OTHER_SEEDS = range(5, 10)
"""On these it is compared with others: where it was chosen, it has been lucky."""
FRESH_SEEDS = range(5, 15)
"""Of Walker2d: nothing was seen of them when what they are asked was thought of."""
RADII = (1e-4, 1e-3)
OTHER_ALGOS = ("crpo", "cpo", "saute", "trpo-lagrangian")
FALLING_ALGOS = ("trpo-pid", "crpo", "cpo")
PLAIN = "plain"


def blocks(runs: Sequence[Run]) -> list[Block]:
    """The blocks that can be run now: the later ones need what the first has chosen."""
    found = [flagship(FIRST_SEEDS), flagship(range(10))]
    radius = chosen_radius(runs)
    if radius is None:
        return found[:1]
    # Whether there is an effect anywhere comes before what it is made of, which is asked where one was found.
    falls, *more_falls = (_falls(algo, radius) for algo in FALLING_ALGOS)
    asked = [*found, falls, _bases(radius), _bases_parts(radius), *more_falls]
    return [*asked, _unconstrained(radius), _falls_again(), *_ablations(radius, runs)]


def flagship(seeds: range) -> Block:
    """PID-Lagrangian on PointGoal1, without SHAPO and with two radii."""
    arms = {PLAIN: _pid(), **{_shapo(radius): _pid(radius) for radius in RADII}}
    contrasts = [
        Contrast(_shapo(radius), PLAIN, criterion, claim)
        for criterion, claim in ((RETURN, EARNS), (COST_RATE, SPARES))
        for radius in RADII
    ]
    tails = [Contrast(_shapo(radius), PLAIN, COST_P95, TAILS) for radius in RADII]
    return Block("flagship", arms, seeds, contrasts, asked_later=tails)


def chosen_radius(runs: Sequence[Run]) -> float | None:
    """The radius with the higher mean return over the flagship's first seeds; None as long as some are missing."""
    means = {}
    for radius in RADII:
        by_seed = runs_of(_pid(radius), runs)
        if not set(FIRST_SEEDS) <= by_seed.keys():
            return None
        means[radius] = np.mean([RETURN.quantity.of(by_seed[seed]) for seed in FIRST_SEEDS])
    return max(means, key=lambda radius: means[radius])


def _ablations(radius: float, runs: Sequence[Run]) -> list[Block]:
    ours = _shapo(radius)
    pair = {PLAIN: _pid(), ours: _pid(radius)}
    small, large = ({_shapo(other): _pid(other)} for other in (1e-5, 1e-2))
    rhos = {f"ρ_critic {rho:g}": _pid(radius, rho_critic=rho) for rho in (0.005, 0.05)}
    actor = {"actor alone": _pid(radius, critic_gradient="plain")}
    critics = {"SAM critics alone": _pid(critic_gradient="sam")}
    decay = {"half the weight decay": _pid(critic_decay=5e-4)}
    balls = {_shapo(r): f"E-SAM as far as {_shapo(r)}" for r in RADII}
    tails = {f"α {alpha:g}": _pid(radius, schedule="alpha", alpha=alpha) for alpha in (0.05, 0.4)}
    tails |= {"effective α 0.05": _pid(radius, schedule="effective-alpha", alpha=0.05)}
    return [
        Block(
            "radius",
            pair | small | large | rhos,
            FIRST_SEEDS,
            [
                *_above(small, [PLAIN]),
                *_above([PLAIN], large, TOO_FAR),
                *_above(rhos, [PLAIN], RHO),
            ],
        ),
        Block(
            "metric",
            {PLAIN: _pid()}
            | {_shapo(r): _pid(r) for r in RADII}
            | {balls[_shapo(r)]: _esam(r, runs) for r in RADII},
            OTHER_SEEDS,
            [
                *_above(balls.values(), [PLAIN]),
                *(Contrast(ours, ball, RETURN, FISHER) for ours, ball in balls.items()),
            ],
        ),
        Block(
            "parts",
            pair | actor | critics | decay,
            OTHER_SEEDS,
            [
                *_above([*actor, *critics, *decay], [PLAIN]),
                *_above([ours], [*actor, *critics, *decay]),
            ],
        ),
        Block(
            "schedules",
            pair | tails,
            OTHER_SEEDS,
            [*_above(tails, [PLAIN], SCHEDULED), *_above(tails, [ours])],
        ),
    ]


def _above(
    arms: Iterable[str], others: Iterable[str], claim: Claim | None = None
) -> list[Contrast]:
    return [Contrast(arm, other, RETURN, claim) for other in others for arm in arms]


def _bases(radius: float) -> Block:
    """One question of four algorithms: each alone has too few seeds for an answer."""
    ours, plain = _shapo(radius), PLAIN
    later = [
        Contrast(ours, plain, COST_RATE, SPARES_TOO, OTHER_ALGOS),
        Contrast(ours, plain, COST_RATE, SAUTE_SPARES, ("saute",)),
        Contrast(ours, plain, COST_P95, TAILS, OTHER_ALGOS),
    ]
    contrast = Contrast(ours, plain, RETURN, CARRIES, OTHER_ALGOS)
    arms = _arms(OTHER_ALGOS, [radius])
    return Block("bases", arms, FIRST_SEEDS, [contrast], asked_later=later)


def _bases_parts(radius: float) -> Block:
    """Whether it is the actor or the critics: asked of the same four together."""
    ours, actor, critics = _shapo(radius), "actor alone", "SAM critics alone"
    arms = _arms(OTHER_ALGOS, [radius])
    for algo in OTHER_ALGOS:
        arms[f"{algo} {actor}"] = arms[f"{algo} {ours}"].replace(critic_gradient="plain")
        arms[f"{algo} {critics}"] = Experiment(algo=algo, critic_gradient="sam")
    asked = [
        Contrast(actor, PLAIN, RETURN, ACTOR, OTHER_ALGOS),
        Contrast(critics, PLAIN, RETURN, CRITICS, OTHER_ALGOS),
        Contrast(ours, actor, RETURN, TOGETHER, OTHER_ALGOS),
        Contrast(ours, critics, RETURN, TOGETHER, OTHER_ALGOS),
    ]
    later = [
        Contrast(actor, PLAIN, COST_RATE, ACTOR_SPARES, OTHER_ALGOS),
        Contrast(actor, critics, COST_RATE, ACTOR_SAFER, OTHER_ALGOS),
        Contrast(ours, actor, COST_RATE, TOGETHER_SPARES, OTHER_ALGOS),
        Contrast(ours, critics, COST_RATE, TOGETHER_SPARES, OTHER_ALGOS),
    ]
    return Block("bases parts", arms, FIRST_SEEDS, asked, asked_later=later)


def _falls(algo: str, radius: float) -> Block:
    """Compared in pairs of one seed: decided before the runs, because at 1e-4 such runs had fallen alike."""
    radii = sorted({1e-4, radius})
    falls, tails = (
        [Contrast(_shapo(r), PLAIN, criterion, claim, (algo,)) for r in radii]
        for criterion, claim in ((FALLS, FALLS_LESS), (COST_P80, TAILS))
    )
    arms = _arms((algo,), radii, env="Walker2d-v4")
    return Block(f"falls {algo}", arms, FIRST_SEEDS, falls, in_pairs, tails)


def _falls_again() -> Block:
    """Five seeds of one algorithm could not tell: more seeds of all three, at the paper's most common radius."""
    radius = min(RADII)
    contrast = Contrast(_shapo(radius), PLAIN, FALLS, FALLS_AGAIN, FALLING_ALGOS)
    arms = _arms(FALLING_ALGOS, [radius], env="Walker2d-v4")
    return Block("falls again", arms, FRESH_SEEDS, [contrast], in_pairs)


def _unconstrained(radius: float) -> Block:
    """PPO, which knows of no limit: what the paper says of it is that it falls less and so learns faster."""
    radii = {UNCONSTRAINED: radius, UNCONSTRAINED_LESS: min(RADII)}
    planned, later = (
        [
            Contrast(_shapo(radii[claim]), PLAIN, criterion, claim, ("ppo",))
            for criterion in (FALLS, RETURN_ALL_ALONG)
        ]
        for claim in radii
    )
    arms = _arms(("ppo",), sorted(set(radii.values())), env="Walker2d-v4")
    return Block("unconstrained", arms, FIRST_SEEDS, planned, in_pairs, later)


def _arms(algos: Sequence[str], radii: Sequence[float], **choices) -> dict[str, Experiment]:
    """Of each algorithm without SHAPO and with each radius."""
    arms = {}
    for algo in algos:
        arms[f"{algo} {PLAIN}"] = Experiment(algo=algo, **choices)
        for radius in radii:
            shapo = Experiment(algo=algo, gradient="shapo", pessimism=radius, **choices)
            arms[f"{algo} {_shapo(radius)}"] = shapo
    return arms


def _pid(radius: float | None = None, **choices) -> Experiment:
    if radius is not None:
        choices = {"gradient": "shapo", "pessimism": radius} | choices
    if "alpha" in choices:
        del choices["pessimism"]  # it does nothing there
    return Experiment("SafetyPointGoal1-v0", "trpo-pid", **choices)


def _esam(radius: float, runs: Sequence[Run]) -> Experiment:
    """E-SAM that looks as far in parameters as SHAPO of this radius does on average."""
    distances = [
        run.history.overall("gradient/distance")
        for seed, run in runs_of(_pid(radius), runs).items()
        if seed in FIRST_SEEDS
    ]
    return _pid(gradient="sam", critic_gradient="sam", rho=float(f"{np.mean(distances):.2g}"))


def _shapo(radius: float) -> str:
    return f"SHAPO δ {radius_text(radius)}"
