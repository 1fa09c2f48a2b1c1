"""Which runs belong together, and what SHAPO changed."""

import numpy as np
import pytest
import scipy.stats
from synthetic import write_run

from shapo.experiment import Experiment
from shapo.experiment.extensions import IN_ALGO
from shapo.experiments.groups import comparisons, grouped
from shapo.runs.reading import read_runs

SHORT = Experiment(steps=200_000)
SHAPO = SHORT.replace(gradient="shapo", critic_gradient="sam")


def groups_in(folder):
    return grouped(read_runs(folder).runs)


def test_labels_name_what_tells_runs_apart(tmp_path):
    for seed in range(2):
        write_run(tmp_path / f"plain{seed}", SHORT.replace(seed=seed))
        for pessimism in (1e-4, 1e-3):
            shapo = SHAPO.replace(seed=seed, pessimism=pessimism)
            write_run(tmp_path / f"shapo{seed}-{pessimism}", shapo)
    found = groups_in(tmp_path)
    assert [group.label for group in found] == [
        "trpo-pid · plain",
        "trpo-pid · shapo · pessimism 0.0001",
        "trpo-pid · shapo · pessimism 0.001",
    ]
    assert all([run.experiment.seed for run in group.runs] == [0, 1] for group in found)


def test_another_length_is_another_group(tmp_path):
    for seed in range(2):
        write_run(tmp_path / f"short{seed}", SHORT.replace(seed=seed))
        write_run(tmp_path / f"long{seed}", SHORT.replace(seed=seed, steps=400_000))
    found = groups_in(tmp_path)
    labels = ["trpo-pid · plain · 200k steps", "trpo-pid · plain · 400k steps"]
    assert [group.label for group in found] == labels
    assert [group.steps for group in found] == [200_000, 400_000]
    assert all(len(group.runs) == 2 and not group.left_out for group in found)


def test_ones_own_environment_is_not_the_one_it_replaced(tmp_path):
    write_run(tmp_path / "built-in", SHORT)
    for seed in range(2):
        write_run(tmp_path / f"own{seed}", SHORT.replace(seed=seed, env="tasks:pendulum"))
    write_run(tmp_path / "own-shapo", SHAPO.replace(env="tasks:pendulum"))
    write_run(tmp_path / "own-rule", SHORT.replace(algo="custom: Mine()", gradient=IN_ALGO))
    found = groups_in(tmp_path)
    assert [(group.env, group.label, len(group.runs)) for group in found] == [
        ("SafetyPointGoal1-v0", "custom: Mine()", 1),
        ("SafetyPointGoal1-v0", "trpo-pid · plain", 1),
        ("tasks:pendulum", "trpo-pid · plain", 2),
        ("tasks:pendulum", "trpo-pid · shapo", 1),
    ]
    [comparison] = comparisons(found).made
    assert comparison.env == "tasks:pendulum"


def test_a_rule_of_ones_own_is_compared_like_one_of_ours(tmp_path):
    for rule in ("plain", "sam", "my_rules:LookAhead(radius=0.1)", "my_rules:LookAhead"):
        write_run(tmp_path / rule, SHORT.replace(gradient=rule))
    assert [c.label for c in comparisons(groups_in(tmp_path)).made] == [
        f"trpo-pid · {rule} − trpo-pid · plain"
        for rule in ("my_rules:LookAhead", "my_rules:LookAhead(radius=0.1)", "sam")
    ]


def test_comparison_is_paired_by_seed(tmp_path):
    for seed in range(4):
        write_run(tmp_path / f"plain{seed}", SHORT.replace(seed=seed), skill=1 + 0.1 * seed)
    for seed in range(1, 6):
        write_run(tmp_path / f"shapo{seed}", SHAPO.replace(seed=seed), skill=1.3 + 0.05 * seed)
    write_run(tmp_path / "shapo1-again", SHAPO.replace(seed=1), skill=9, seed=77)
    runs = {run.folder.name: run.history for run in read_runs(tmp_path).runs}
    [comparison] = comparisons(groups_in(tmp_path)).made
    ours = [runs[f"shapo{seed}"].final("reward/episode") for seed in (1, 2, 3)]
    theirs = [runs[f"plain{seed}"].final("reward/episode") for seed in (1, 2, 3)]
    expected = scipy.stats.ttest_rel(ours, theirs).confidence_interval(0.95)
    assert comparison.pairs == 3, "a seed counts once"
    np.testing.assert_allclose(comparison.reward[1:], expected)
    assert comparison.reward.estimate == pytest.approx(np.mean(ours) - np.mean(theirs))
    assert comparison.better_reward == np.mean(np.greater.outer(ours, theirs))
    ours = [runs[f"shapo{seed}"].last("cost/rate") for seed in (1, 2, 3)]
    theirs = [runs[f"plain{seed}"].last("cost/rate") for seed in (1, 2, 3)]
    expected = scipy.stats.ttest_rel(ours, theirs).confidence_interval(0.95)
    np.testing.assert_allclose(comparison.cost_rate, [np.mean(ours) - np.mean(theirs), *expected])
    assert comparison.safer == np.mean(np.less.outer(ours, theirs)) != 0.5


def test_like_is_compared_with_like(tmp_path):
    for first in (0.1, 1.0):
        write_run(tmp_path / f"p{first}", SHORT.replace(multiplier_init=first))
        write_run(tmp_path / f"s{first}", SHAPO.replace(multiplier_init=first))
    write_run(tmp_path / "alone", SHAPO.replace(env="Ant-v4"))
    labels = [c.label for c in comparisons(groups_in(tmp_path)).made]
    assert len(labels) == 2
    for label in labels:
        ours, theirs = label.split(" − ")
        assert ours.split("multiplier_init")[1] == theirs.split("multiplier_init")[1]


ARMS = {
    "plain": SHORT,
    "critics": SHORT.replace(critic_gradient="sam"),
    "actor": SHORT.replace(gradient="shapo", critic_gradient="plain"),
    "both": SHAPO,
}
SKILL = {"plain": 1.0, "critics": 2.0, "actor": 3.0, "both": 4.0}


def write_arms(folder, *names):
    for name in names:
        write_run(folder / name, ARMS[name], skill=SKILL[name], seed=0)


def test_the_baseline_has_a_plain_actor_and_plain_critics(tmp_path):
    """Figure 7's four arms: SHAPO and its actor alone are both compared with plain, and the critics with nothing."""
    write_arms(tmp_path, *ARMS)
    found = {c.label: c.reward.estimate for c in comparisons(groups_in(tmp_path)).made}
    runs = {
        run.folder.name: run.history.final("reward/episode") for run in read_runs(tmp_path).runs
    }
    plain = "trpo-pid · plain"
    assert found == {
        f"trpo-pid · shapo − {plain}": pytest.approx(runs["both"] - runs["plain"]),
        f"trpo-pid · shapo · plain critics − {plain}": pytest.approx(runs["actor"] - runs["plain"]),
    }


def test_without_a_plain_one_only_the_actors_rule_may_differ(tmp_path):
    write_arms(tmp_path, "critics", "actor", "both")
    [comparison] = comparisons(groups_in(tmp_path)).made
    assert comparison.label == (
        "trpo-pid · shapo − trpo-pid · plain · sam critics (the actor's rule alone)"
    )
    write_run(tmp_path / "others", ARMS["both"].replace(rho_critic=0.5))
    assert len(comparisons(groups_in(tmp_path)).made) == 1, "other critics are no such pair"


def test_what_cannot_be_compared_is_said(tmp_path):
    write_run(tmp_path / "plain", SHORT)
    write_run(tmp_path / "shapo", SHAPO, iterations=5)
    found = comparisons(groups_in(tmp_path))
    assert not found.made
    assert found.not_made == [
        "SafetyPointGoal1-v0: trpo-pid · shapo − trpo-pid · plain: one has come further (100k and 200k steps)"
    ]
