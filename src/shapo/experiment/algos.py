"""Our algorithms, a row each: which choices do something follows from it, what is built, what `shapo algos` says."""

from typing import Literal, NamedTuple, get_args

Algo = Literal[
    "trpo", "trpo-lagrangian", "trpo-pid", "crpo", "cpo", "cpo-as-released", "pcpo", "saute", "simmer", "npg", "rcpo",
    "ppo", "ppo-lagrangian", "ppo-pid", "ppo-saute", "ipo", "p3o", "focops", "cup",
]  # fmt: skip
"""The names of the rows once more: an editor or a type checker cannot read them there."""
StepKind = Literal["trust region", "epochs", "clipped epochs"]
"""How far to go: a bounded step, passes over the batch, or passes in which probability ratios are clipped."""
CostKind = Literal["ignored", "ascent", "pid", "bounded", "seen", "budget"]
"""What is done about the episode's cost: nothing; a multiplier that climbs, that a controller steers or that is bounded
looks at it; the algorithm looks at it in a way of its own; an environment keeps the budget."""


class Row(NamedTuple):
    """What is known of an algorithm without building it."""

    step: StepKind
    cost: CostKind
    made_of: str
    """Objective · step and, where the environment is changed first, · wrapper."""
    about: str


ALGOS: dict[Algo, Row] = {
    "trpo": Row("trust region", "ignored", "RewardOnly · TrustRegion",
        "trust region policy optimisation; ignores cost"),
    "trpo-lagrangian": Row("trust region", "ascent", "Lagrangian(Ascent) · TrustRegion",
        "TRPO with a Lagrange multiplier that climbs while cost exceeds its limit"),
    "trpo-pid": Row("trust region", "pid", "Lagrangian(Pid) · TrustRegion",
        "TRPO with a multiplier steered by a PID controller: the paper's main base"),
    "crpo": Row("trust region", "seen", "Switching · TrustRegion",
        "TRPO on reward, or on cost in iterations that exceed the limit"),
    "cpo": Row("trust region", "seen", "reward, subject to cost · its own",
        "constrained policy optimisation: the best step that keeps the cost within its limit"),
    "cpo-as-released": Row("trust region", "seen", "reward, subject to cost · its own",
        "CPO with the flaws of the published code, to reproduce published numbers"),
    "pcpo": Row("trust region", "seen", "RewardOnly · Projected",
        "a TRPO step, then the shortest way back to where the cost is within its limit"),
    "npg": Row("trust region", "ignored", "RewardOnly · TrustRegion(Unsearched)",
        "natural policy gradient: TRPO without its line search; ignores cost"),
    "rcpo": Row("trust region", "ascent", "Lagrangian(Ascent) · TrustRegion(Unsearched)",
        "the natural policy gradient with a Lagrange multiplier"),
    "saute": Row("trust region", "budget", "RewardOnly · TrustRegion · Budget",
        "TRPO that sees what is left of its safety budget and earns nothing once it is spent"),
    "simmer": Row("trust region", "budget", "RewardOnly · TrustRegion · SimmeringBudget",
        "the same with a budget that begins small and grows as it is kept"),
    "ppo": Row("clipped epochs", "ignored", "RewardOnly · Epochs(Clipped)",
        "proximal policy optimisation; ignores cost"),
    "ppo-lagrangian": Row("clipped epochs", "ascent", "Lagrangian(Ascent) · Epochs(Clipped)",
        "PPO with a Lagrange multiplier"),
    "ppo-pid": Row("clipped epochs", "pid", "Lagrangian(Pid) · Epochs(Clipped)",
        "PPO with a multiplier steered by a PID controller (CPPO-PID)"),
    "ppo-saute": Row("clipped epochs", "budget", "RewardOnly · Epochs(Clipped) · Budget",
        "saute with PPO"),
    "ipo": Row("clipped epochs", "seen", "Lagrangian(Barrier) · Epochs(Clipped)",
        "PPO with a logarithmic barrier before the limit"),
    "p3o": Row("clipped epochs", "seen", "RewardOnly · Epochs(Penalised)",
        "PPO with an exact penalty on expected cost above the limit"),
    "focops": Row("epochs", "bounded", "Unscaled(Lagrangian(Bounded)) · Epochs(FirstOrder)",
        "imitates the best policy nearby, which has a closed form"),
    "cup": Row("clipped epochs", "bounded", "RewardOnly · Corrected(Epochs(Clipped), Epochs(Anchored))",
        "PPO on reward, then back to the nearest policy that does not cost too much"),
}  # fmt: skip


def _with(*kinds: StepKind | CostKind) -> tuple[str, ...]:
    """The algorithms of these kinds, in the order of `Algo`."""
    rows = [(name, ALGOS[name]) for name in get_args(Algo)]
    return tuple(name for name, row in rows if row.step in kinds or row.cost in kinds)


TRUST_REGION = _with("trust region")
EPOCHS = _with("epochs", "clipped epochs")
CLIPPED = _with("clipped epochs")
ASCENT = _with("ascent")
PID = _with("pid")
BOUNDED = _with("bounded")
SAUTE = _with("budget")
IGNORES_COST = _with("ignored")
SEES_EPISODE_COST = (*ASCENT, *PID, *BOUNDED, *_with("seen"))
