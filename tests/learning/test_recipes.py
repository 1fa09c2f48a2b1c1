"""From names and numbers to rules."""

import itertools

import pytest
from own_rules import LookAhead

from shapo import algorithms
from shapo.algorithms import trpo
from shapo.envs.saute import Budget
from shapo.envs.simmer import SimmeringBudget
from shapo.experiment import Algo, Experiment, GradientRule
from shapo.experiment.algos import ALGOS, EPOCHS, SAUTE
from shapo.experiment.choices import Kind, kinds
from shapo.experiment.extensions import IN_ALGO, Recorded
from shapo.learning import recipes
from shapo.rules.corrections import Corrected
from shapo.rules.gradients import Shapo
from shapo.rules.multipliers import Ascent, Barrier, Bounded, Pid
from shapo.rules.projections import in_kl, in_l2
from shapo.rules.schedules import Alpha, Decay, EffectiveAlpha
from shapo.rules.steps import FisherSolver, LineSearch


def another(value, kind: Kind):
    if kind.item is str:
        return next(word for word in kind.words if word != value)
    return value + 1 if kind.item is int else value / 2 + 1e-3


def built(experiment):
    return recipes.algorithm(experiment, 2), recipes.critics(experiment), recipes.values(experiment)


def test_a_choice_changes_what_is_built_exactly_where_it_is_not_idle():
    apart = (("plain", "fixed"), ("sam", "alpha"), ("plain", "effective-alpha"), ("sam", "decay"))
    for algo, gradient, (critics, schedule) in itertools.product(
        Algo.__args__, GradientRule.__args__, apart
    ):
        base = Experiment(algo=algo, gradient=gradient, critic_gradient=critics, schedule=schedule)
        for name, kind in kinds(Experiment).items():
            # PPO has a Fisher matrix at hand whatever the rule is, and the window is the ledger's.
            unseen = name == "episode_window" or (name == "damping_per_dim" and algo in EPOCHS)
            if kind.conditions and not unseen:
                other = base.replace(**{name: another(getattr(base, name), kind)})
                assert (built(base) != built(other)) == (name not in base.idle()), (name, base)


@pytest.mark.parametrize(
    ("algo", "choices", "part", "expected"),
    [
        (
            "trpo-pid",
            {"multiplier_init": 0.1, "pid_kp": 0.2, "pid_ki": 0.3, "pid_kd": 0.4},
            lambda built: built.objective.multiplier,
            Pid(initial=0.1, kp=0.2, ki=0.3, kd=0.4),
        ),
        (
            "ppo-lagrangian",
            {"multiplier_init": 0.1, "multiplier_rate": 0.2},
            lambda built: built.objective.multiplier,
            Ascent(initial=0.1, rate=0.2),
        ),
        (
            "focops",
            {"multiplier_init": 0.1, "multiplier_rate": 0.2, "multiplier_max": 0.3},
            lambda built: built.objective.lagrangian.multiplier,
            Bounded(initial=0.1, rate=0.2, most=0.3),
        ),
        (
            "ipo",
            {"ipo_sharpness": 2.0, "multiplier_max": 3.0},
            lambda built: built.objective.multiplier,
            Barrier(sharpness=2.0, most=3.0),
        ),
        (
            "cup",
            {"discount": 0.5, "gae": 0.8},
            lambda built: built.step.weight,
            (1 - 0.5 * 0.8) / (1 - 0.5),
        ),
        ("pcpo", {"pcpo_projection": "l2"}, lambda built: built.step.projection, in_l2),
        ("pcpo", {"pcpo_projection": "kl"}, lambda built: built.step.projection, in_kl),
        *(
            (
                "trpo",
                {"gradient": "shapo", "schedule": name, "pessimism": 0.1, "alpha": 0.3},
                lambda built: built.step.gradient.radius,
                radius,
            )
            for name, radius in (
                ("fixed", 0.2),  # of two dimensions
                ("decay", Decay(0.2)),
                ("alpha", Alpha(0.3)),
                ("effective-alpha", EffectiveAlpha(0.3)),
            )
        ),
        (
            "trpo",
            {"damping_per_dim": 0.3, "cg_iterations": 7, "cg_tolerance": 0.4},
            lambda built: built.step.solver,
            FisherSolver(damping=0.6, iterations=7, tolerance=0.4),
        ),
    ],
)
def test_numbers_arrive_where_they_belong(algo, choices, part, expected):
    assert part(recipes.algorithm(Experiment(algo=algo, **choices), 2)) == expected


def test_so_do_those_of_the_critics():
    found = recipes.critics(
        Experiment(critic_rate=0.1, critic_decay=0.2, critic_minibatch=3, critic_epochs=4)
    )
    assert (found.rate, found.decay, found.minibatch, found.epochs) == (0.1, 0.2, 3, 4)


@pytest.mark.parametrize("rule", ["mean", "ensemble", "wcpg"])
def test_a_value_rule_has_its_own_choices(rule):
    base = Experiment(values=rule)
    for name in ("value_members", "value_beta", "value_alpha"):
        other = base.replace(**{name: another(getattr(base, name), kinds(Experiment)[name])})
        assert (built(base) != built(other)) == (name not in base.idle()), name


def test_only_saute_and_simmer_want_an_environment_of_its_own_and_a_budget_for_each_cost():
    for algo in Algo.__args__:
        limits = (3.0, 4.0) if algo in SAUTE else (3.0,)
        wanted = recipes.algorithm(Experiment(algo=algo, cost_limit=limits), 2).environment
        expected = {
            "saute": Budget(limits, 0.9999, -0.2),
            "ppo-saute": Budget(limits, 0.9999, -0.2),
            "simmer": SimmeringBudget(limits, 0.9999, -0.2, 0.1, 0.05, 0.005),
        }
        assert wanted == expected.get(algo)


def called(rule):
    """A rule's name, with those that it is made of in brackets; what serves every step is not told."""
    parts = [
        getattr(rule, name, None)
        for name in ("lagrangian", "multiplier", "climb", "correct", "loss", "search")
    ]
    told = [called(part) for part in parts if part is not None and part != LineSearch()]
    if isinstance(rule, Corrected):
        told.remove(called(rule.multiplier))
    return f"{type(rule).__name__}({', '.join(told)})" if told else type(rule).__name__


@pytest.mark.parametrize(
    "algo", [name for name in Algo.__args__ if "cpo" not in name or name in ("pcpo", "rcpo")]
)
def test_an_algorithm_is_made_of_what_shapo_algos_says(algo):
    built = recipes.algorithm(Experiment(algo=algo), 2)
    parts = built.objective, built.step, *([built.environment] if built.environment else [])
    assert " · ".join(map(called, parts)) == ALGOS[algo].made_of


@pytest.mark.parametrize(
    "algo", [n for n in Algo.__args__ if n.replace("-", "_") in algorithms.__all__]
)
def test_in_python_an_algorithm_has_the_numbers_of_the_command_line(algo):
    """Of two actions, for which a trust region of 0.02 is the published one; damping is told for one of them."""
    named = Experiment("Any-v0", algo, cost_limit=(10.0,), damping_per_dim=0.1 / 2)
    given = {
        "ignored": {},
        "budget": {"budget": 10.0, "base": algorithms.trpo()},
    }
    kind = ALGOS[algo].cost
    built = getattr(algorithms, algo.replace("-", "_"))(**given.get(kind, {"cost_limit": 10.0}))
    assert built == recipes.algorithm(named, 2)


class TestYourOwn:
    """Whatever has a name of ours may be yours."""

    rule = Experiment(algo="trpo", gradient="own_rules:LookAhead(radius=0.1)")

    def test_gradient_rule(self):
        step = recipes.algorithm(self.rule, 2).step
        assert step.gradient == LookAhead(0.1) and step.radius == 0.01 * 2
        both = self.rule.replace(algo="cpo", critic_gradient="own_rules:LookAhead")
        assert recipes.algorithm(both, 2).cost_gradient == LookAhead(0.1)
        assert recipes.critics(both).gradient == LookAhead()

    def test_algorithm(self):
        bold = self.rule.replace(algo="own_rules:bold(radius=0.3)")
        assert recipes.algorithm(bold, 2) == trpo(radius=0.3, gradient=LookAhead(0.1))
        library = Experiment(algo="shapo.algorithms:crpo(tolerance=1.0)", cost_limit=(7.0,))
        assert recipes.algorithm(library, 2).objective.cost_limit == (7.0,)
        in_algo = self.rule.replace(algo="own_rules:timid", gradient=IN_ALGO)
        assert recipes.algorithm(in_algo, 2) == trpo(radius=1e-3)

    def test_schedule(self):
        mine = Experiment(gradient="shapo", schedule="own_rules:when_needed(radius=0.5)")
        rule = recipes.gradient(mine, 2)
        assert isinstance(rule, Shapo) and callable(rule.radius)
        assert {"pessimism", "alpha"} <= mine.idle().keys()

    @pytest.mark.parametrize(
        "choices, complaint",
        [
            ({"gradient": "own_rules:Nothing"}, "there is no Nothing in own_rules"),
            (
                {"gradient": "own_rules:NOT_A_FACTORY"},
                "cannot be called: it is no function or class, but int",
            ),
            ({"gradient": "builtins:int"}, "builtins:int: no signature found"),
            ({"gradient": "own_rules:nothing"}, "returned a NoneType, which is no gradient rule"),
            (
                {"algo": "own_rules:LookAhead", "gradient": "plain"},
                "returned a LookAhead, which is no algorithm",
            ),
            ({"algo": "own_rules:timid"}, "own_rules:timid takes no gradient rule; leave gradi"),
            ({"gradient": Recorded("own_rules:LookAhead")}, "is named by a file only"),
        ],
    )
    def test_what_is_none_is_said(self, choices, complaint):
        with pytest.raises(ValueError, match=complaint):
            recipes.algorithm(self.rule.replace(**choices), 2)
