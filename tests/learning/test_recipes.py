"""From names and numbers to rules."""

import itertools

from shapo.envs.saute import Budget
from shapo.experiment import Algo, Experiment, GradientRule, names
from shapo.experiment.choices import Kind, kinds
from shapo.learning import recipes


def another(value, kind: Kind):
    if kind.item is str:
        return next(word for word in kind.words if word != value)
    return value + 1 if kind.item is int else value / 2 + 1e-3


def built(experiment):
    return recipes.algorithm(experiment, 2), recipes.critics(experiment)


def test_a_choice_changes_what_is_built_exactly_where_it_is_not_idle():
    apart = (("plain", "fixed"), ("sam", "alpha"), ("plain", "effective-alpha"), ("sam", "decay"))
    for algo, gradient, (critics, schedule) in itertools.product(
        Algo.__args__, GradientRule.__args__, apart
    ):
        base = Experiment(algo=algo, gradient=gradient, critic_gradient=critics, schedule=schedule)
        for name, kind in kinds(Experiment).items():
            # PPO has a Fisher matrix at hand whatever the rule is, and the window is the ledger's.
            unseen = name == "episode_window" or (name == "damping" and algo in names.CLIPPED)
            if kind.conditions and not unseen:
                other = base.replace(**{name: another(getattr(base, name), kind)})
                assert (built(base) != built(other)) == (name not in base.idle()), (name, base)


def test_only_saute_wants_an_environment_of_its_own_and_a_budget_for_each_cost():
    for algo in Algo.__args__:
        limits = (3.0, 4.0) if algo in names.SAUTE else (3.0,)
        wanted = recipes.algorithm(Experiment(algo=algo, cost_limit=limits), 2).environment
        assert wanted == (Budget(limits, 0.9999, -0.2) if algo in names.SAUTE else None)
