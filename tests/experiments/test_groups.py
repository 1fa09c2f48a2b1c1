"""Which runs belong together, and what SHAPO changed."""

import numpy as np
import pytest
import scipy.stats
from synthetic import write_run

from shapo.experiment import Experiment
from shapo.experiments import groups
from shapo.runs import reading as table

SHORT = Experiment(steps=200_000)
SHAPO = SHORT.replace(gradient="shapo", critic_gradient="sam")


def test_labels_name_what_tells_runs_apart(tmp_path):
    for seed in range(2):
        write_run(tmp_path / f"plain{seed}", SHORT.replace(seed=seed))
        for pessimism in (1e-4, 1e-3):
            shapo = SHAPO.replace(seed=seed, pessimism=pessimism)
            write_run(tmp_path / f"shapo{seed}-{pessimism}", shapo)
    found = groups.grouped(table.read_runs(tmp_path).runs)
    assert [group.label for group in found] == [
        "trpo-pid · plain",
        "trpo-pid · shapo · pessimism 0.0001",
        "trpo-pid · shapo · pessimism 0.001",
    ]
    assert all([run.experiment.seed for run in group.runs] == [0, 1] for group in found)


def test_comparison_is_paired_by_seed(tmp_path):
    for seed in range(4):
        write_run(tmp_path / f"plain{seed}", SHORT.replace(seed=seed), skill=1 + 0.1 * seed)
    for seed in range(1, 6):
        write_run(tmp_path / f"shapo{seed}", SHAPO.replace(seed=seed), skill=1.3 + 0.05 * seed)
    runs = {run.name: run for run in table.read_runs(tmp_path).runs}
    [comparison] = groups.comparisons(list(runs.values()))
    ours = [runs[f"shapo{seed}"].final("reward/episode") for seed in (1, 2, 3)]
    theirs = [runs[f"plain{seed}"].final("reward/episode") for seed in (1, 2, 3)]
    expected = scipy.stats.ttest_rel(ours, theirs).confidence_interval(0.95)
    assert comparison.pairs == 3
    np.testing.assert_allclose(comparison.reward[1:], expected)
    assert comparison.reward.estimate == pytest.approx(np.mean(ours) - np.mean(theirs))
    assert comparison.better_reward == np.mean(np.greater.outer(ours, theirs))


def test_like_is_compared_with_like(tmp_path):
    for first in (0.1, 1.0):
        write_run(tmp_path / f"p{first}", SHORT.replace(multiplier_init=first))
        write_run(tmp_path / f"s{first}", SHAPO.replace(multiplier_init=first))
    write_run(tmp_path / "alone", SHAPO.replace(env="Ant-v4"))
    labels = [c.label for c in groups.comparisons(table.read_runs(tmp_path).runs)]
    assert len(labels) == 2
    for label in labels:
        ours, theirs = label.split(" − ")
        assert ours.split("multiplier_init")[1] == theirs.split("multiplier_init")[1]
