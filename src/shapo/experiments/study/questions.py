"""What the study asks: numbers of runs, what is claimed of them, and which arms are compared to find out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from numpy.typing import NDArray

from shapo.experiment import Experiment
from shapo.experiments import quantities
from shapo.experiments.counting import counted
from shapo.experiments.quantities import Quantity
from shapo.experiments.statistics import Samples, apart
from shapo.runs.folder import Run


class Criterion(NamedTuple):
    """What two arms are judged by: a number, which way is better, and by how much it matters."""

    quantity: Quantity
    sign: int
    """1 if more is better, −1 if less is."""
    matters: Callable[[float], float]
    """The smallest improvement that would matter, given the baseline's mean."""
    form: str
    """How it is written."""


def a_twentieth(base: float) -> float:
    """What matters of a number that has no scale of its own."""
    return 0.05 * base


RETURN = Criterion(quantities.RETURN, 1, lambda base: 2.0, ".2f")
RETURN_ALL_ALONG = Criterion(quantities.RETURN_ALL_ALONG, 1, a_twentieth, ",.0f")
COST_RATE = Criterion(quantities.COST_RATE, -1, a_twentieth, ".5f")
COST_P80 = Criterion(quantities.COST_P80, -1, a_twentieth, ".2f")
COST_P95 = Criterion(quantities.COST_P95, -1, a_twentieth, ".1f")
FALLS = Criterion(quantities.FALLS, -1, a_twentieth, ",.0f")


class Claim(NamedTuple):
    """Something that the paper says, or that it leads one to expect."""

    text: str
    said_by: str
    """Whose it is, and where it stands."""
    figure: str
    """What shows it, as `shapo figure` calls it."""
    instead: str = ""
    """If its runs are set aside: the heading in docs/study-closely.md under which it is looked at in another way."""


ONE_UPDATE = "One update, looked at closely"
ONE_CRITIC = "One critic, looked at closely"
FORMULA = "Fixed tail probabilities are almost nothing"

THE_OTHERS = "in the mean of CRPO, CPO, Sauté and TRPO-Lagrangian"

MAIN = "paper, Figure 3"
MAIN_AND_OURS = "paper, Figure 3; ours of TRPO-Lagrangian"
PARTS = "paper, Figure 7"

EARNS = Claim("with PID-Lagrangian SHAPO earns more", MAIN, "main")
SPARES = Claim("with PID-Lagrangian SHAPO costs less while it learns", MAIN, "main")
CARRIES = Claim(f"{THE_OTHERS} SHAPO earns more, too", MAIN_AND_OURS, "curves-pointgoal1")
SPARES_TOO = Claim(f"{THE_OTHERS} SHAPO costs less while it learns", MAIN_AND_OURS, "main")
SAUTE_SPARES = Claim("with Sauté, which costs little, SHAPO costs even less", MAIN, "main")
TAILS = Claim(
    "SHAPO thins the tail of an episode's cost",
    "paper, Figure 5, of Walker2d; ours of PointGoal1",
    "cost-tails",
)
FALLS_LESS = Claim("SHAPO falls less often while it learns", MAIN, "curves-walker2d")
FALLS_AGAIN = Claim(
    "SHAPO falls less often: asked again, of ten fresh seeds", MAIN, "curves-walker2d"
)
UNCONSTRAINED = Claim(
    "SHAPO helps PPO, too, where a fall ends an episode", "paper, Figure 13", "unconstrained"
)
UNCONSTRAINED_LESS = Claim(
    "SHAPO with a smaller radius helps PPO there", "paper, Figure 13", "unconstrained"
)
ACTOR = Claim("the actor's part alone earns more", "ours, after Figure 7", "actor-critic")
CRITICS = Claim("the critics' part alone earns more", PARTS, "actor-critic")
TOGETHER = Claim("actor and critics together earn more than either alone", PARTS, "actor-critic")
ACTOR_SPARES = Claim("the actor's part alone costs less while it learns", PARTS, "actor-critic")
ACTOR_SAFER = Claim("the actor's part costs less than the critics' part", PARTS, "actor-critic")
TOGETHER_SPARES = Claim(
    "actor and critics together cost less than either alone", PARTS, "actor-critic"
)
TOO_FAR = Claim("too large a radius earns less than none", "ours, after Figure 9", "sensitivity")
RHO = Claim(
    "SHAPO earns more with other radii of the critics, too",
    "paper, Figure 9",
    "sensitivity",
    ONE_CRITIC,
)
FISHER = Claim(
    "a ball in the Fisher metric earns more than a Euclidean one (E-SAM)",
    "paper, Figure 6",
    "fisher-euclidean",
    ONE_UPDATE,
)
SCHEDULED = Claim(
    "a fixed tail probability instead of a fixed radius earns more, too",
    "paper, Figure 8",
    "schedules",
    FORMULA,
)
CLAIMS = (
    EARNS, SPARES, CARRIES, SPARES_TOO, SAUTE_SPARES, TAILS, FALLS_LESS, FALLS_AGAIN, UNCONSTRAINED, UNCONSTRAINED_LESS,
    ACTOR, CRITICS, TOGETHER, ACTOR_SPARES, ACTOR_SAFER, TOGETHER_SPARES, TOO_FAR, RHO, FISHER, SCHEDULED,
)  # fmt: skip


class Contrast(NamedTuple):
    """A primary comparison: one arm against another, by one number."""

    ours: str
    """The arm that should be better."""
    theirs: str
    criterion: Criterion
    claim: Claim | None = None
    """What it tests; nothing if it is there to be compared with."""
    among: tuple[str, ...] = ()
    """Kinds of run, such as algorithms, each of which has both arms, named "KIND ARM" in the block; what counts is the
    mean of their differences."""

    @property
    def arms(self) -> list[tuple[str, str]]:
        """Ours and theirs, by the names that the block's arms have."""
        kinds = [f"{kind} " for kind in self.among] or [""]
        return [(f"{kind}{self.ours}", f"{kind}{self.theirs}") for kind in kinds]

    @property
    def title(self) -> str:
        """What is compared with the other."""
        kinds = f"mean of {len(self.among)}" if len(self.among) > 1 else "".join(self.among)
        return f"{kinds}: {self.ours}" if kinds else self.ours


@dataclass(frozen=True)
class Block:
    """Arms that are run and judged together."""

    name: str
    arms: Mapping[str, Experiment]
    seeds: range
    contrasts: Sequence[Contrast]
    """Holm's correction is over all of them."""
    comparison: Callable[[NDArray, NDArray], Samples] = apart
    """Whether the runs of one seed have something in common: decided before they are run, not by looking at them."""
    asked_later: Sequence[Contrast] = ()
    """Thought of when some were run; corrected among themselves, so that what was judged before stays."""

    @property
    def families(self) -> tuple[Sequence[Contrast], ...]:
        """The contrasts, in groups that are corrected together."""
        return self.contrasts, self.asked_later

    def found(self, arm: str, runs: Sequence[Run]) -> list[Run]:
        """The finished runs of one of its arms, by seed."""
        by_seed = runs_of(self.arms[arm], runs)
        return [run for seed, run in sorted(by_seed.items()) if seed in self.seeds]

    def experiments(self, finished: Sequence[Run] = ()) -> list[Experiment]:
        """Every run of the block that is not there yet, seed by seed: whatever is there early is a fair sample."""
        there = {name: runs_of(arm, finished).keys() for name, arm in self.arms.items()}
        return [
            arm.replace(seed=seed)
            for seed in self.seeds
            for name, arm in self.arms.items()
            if seed not in there[name]
        ]


def runs_of(arm: Experiment, runs: Iterable[Run]) -> dict[int, Run]:
    """The finished runs of an arm, by seed."""
    wanted = arm.essence("seed")
    own = (r for r in runs if r.finished and r.experiment.essence("seed") == wanted)
    return {run.experiment.seed: run for run in counted(own).runs}
