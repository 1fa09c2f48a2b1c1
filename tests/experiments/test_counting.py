"""Which runs are averaged, and what is said of the others."""

import dataclasses
import json

import numpy as np
import pytest
from synthetic import write_run

from shapo.experiment import Experiment
from shapo.experiments.counting import counted
from shapo.experiments.curves import mean_curve
from shapo.runs.archives import write_archive
from shapo.runs.history import History
from shapo.runs.reading import read_runs

SHORT = Experiment(steps=200_000)


def folders(runs):
    return [run.folder.name for run in runs]


def test_an_essence_is_what_decides_the_result():
    assert SHORT.replace(workers=8).essence() == SHORT.essence() != SHORT.replace(seed=1).essence()
    assert SHORT.replace(seed=1).essence("seed") == SHORT.essence("seed")
    assert SHORT.replace(seed=1, steps=1).essence("seed") != SHORT.essence("seed")


def test_a_seed_counts_once_and_as_its_longest(tmp_path):
    write_run(tmp_path / "a-stopped", SHORT, iterations=4)
    write_run(tmp_path / "b-whole", SHORT)
    write_run(tmp_path / "c-again", SHORT.replace(workers=3), seed=5)
    write_run(tmp_path / "d-other", SHORT.replace(seed=1))
    found = counted(read_runs(tmp_path).runs)
    assert folders(found.runs) == ["b-whole", "d-other"]
    assert {out.run.folder.name: out.reason for out in found.left_out} == {
        "a-stopped": "seed 0 counts once, in b-whole",
        "c-again": "seed 0 counts once, in b-whole",
    }


def test_unlike_lengths_are_not_averaged(tmp_path):
    for seed, iterations in enumerate((10, 6, 10)):
        write_run(tmp_path / f"s{seed}", SHORT.replace(seed=seed), iterations=iterations)
    found = counted(read_runs(tmp_path).runs)
    assert folders(found.runs) == ["s0", "s2"]
    [out] = found.left_out
    assert (out.kind, out.reason) == ("shorter", "120k steps, others have 200k")
    curve = mean_curve(found.runs, "reward/episode")
    assert curve.steps[-1] == 200_000, "the short one does not shorten the curve"


@pytest.mark.parametrize(("algo", "kept"), [("trpo", ["s0", "s1"]), ("ppo", ["s0"])])
def test_an_extended_run_is_one_of_its_length_unless_a_rate_falls_over_it(tmp_path, algo, kept):
    for seed in range(2):
        folder = write_run(tmp_path / f"s{seed}", SHORT.replace(algo=algo, seed=seed))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"extended_from": [100_000]}))
    found = counted(read_runs(tmp_path).runs)
    assert folders(found.runs) == kept
    assert [out.kind for out in found.left_out] == ["of another length"] * (2 - len(kept))
    alone = counted(read_runs(folder).runs)
    assert folders(alone.runs) == ["s1"], "among its like it counts"


def test_mean_curves_are_means_and_standard_errors(tmp_path):
    for seed in range(3):
        write_run(tmp_path / f"s{seed}", SHORT.replace(seed=seed))
    runs = read_runs(tmp_path).runs
    rows = np.stack([run.history.columns["reward/episode"] for run in runs])
    curve = mean_curve(runs, "reward/episode")
    np.testing.assert_allclose(curve.steps, runs[0].history.columns["steps"])
    np.testing.assert_allclose(curve.mean, rows.mean(0))
    np.testing.assert_allclose(curve.error, rows.std(0, ddof=1) / np.sqrt(3))
    two, one = (mean_curve(runs[:many], "reward/episode").error for many in (2, 1))
    np.testing.assert_allclose(two, np.abs(rows[1] - rows[0]) / 2)
    assert not one.any()
    smooth = mean_curve(runs, "reward/episode", window=3)
    by_hand = np.stack([[np.mean(row[max(0, i - 2) : i + 1]) for i in range(10)] for row in rows])
    np.testing.assert_allclose(smooth.mean, by_hand.mean(0))
    assert mean_curve(runs, "no/such").steps.size == 0


def test_a_running_mean_is_of_what_is_known(tmp_path):
    [run] = read_runs(write_run(tmp_path / "run", SHORT)).runs
    reward = run.history.columns["reward/episode"].copy()
    reward[[0, 1, 5]] = np.nan
    broken = run.history.columns | {"reward/episode": reward}
    curve = mean_curve([dataclasses.replace(run, moment=History(broken))], "reward/episode", 3)
    by_hand = [np.nanmean(reward[max(0, i - 2) : i + 1]) for i in range(2, 10)]
    np.testing.assert_allclose(curve.mean, by_hand)
    assert curve.steps[0] == 60_000, "of the first two iterations nothing is known"


@pytest.mark.parametrize("iterations", [250, 300, 500])
def test_an_archive_has_the_curve_of_its_run(tmp_path, iterations):
    """Though its rows stand for unequal numbers of iterations: 2, 3 and 5 of 250."""
    experiment = SHORT.replace(steps=iterations * SHORT.batch_steps)
    [run] = read_runs(write_run(tmp_path / "run", experiment)).runs
    columns = dict(run.history.columns)
    rising = dataclasses.replace(
        run, moment=History(columns | {"reward/episode": columns["iteration"]})
    )
    write_archive([rising], tmp_path / "all.runs.gz")
    [packed] = read_runs(tmp_path / "all.runs.gz").runs
    whole, archived = (
        mean_curve([each], "reward/episode", iterations // 10) for each in (rising, packed)
    )
    same = np.isin(whole.steps, archived.steps)
    assert same.sum() == len(archived.steps) == 100
    # Of a row that is partly within, that part counts with the mean of all of it.
    np.testing.assert_allclose(archived.mean, whole.mean[same], atol=0.2)
    np.testing.assert_allclose(archived.mean[-1], packed.history.final("reward/episode"))


@pytest.mark.parametrize("column", ["reward/episode", "cost/total"])
def test_beside_an_archive_a_folder_is_drawn_as_if_it_were_in_it(tmp_path, column):
    experiment = SHORT.replace(steps=250 * SHORT.batch_steps)
    for seed in range(2):
        write_run(tmp_path / f"s{seed}", experiment.replace(seed=seed))
    runs = read_runs(tmp_path).runs
    (tmp_path / "archived").mkdir()
    write_archive(runs, tmp_path / "archived" / "all.runs.gz")
    both = read_runs(tmp_path / "archived").runs
    mixed = [both[0], runs[1]]
    assert {len(run.history.values("steps")) for run in mixed} == {100, 250}
    for window in (1, 25):
        expected = mean_curve(both, column, window)
        for order in (mixed, mixed[::-1]):
            np.testing.assert_allclose(mean_curve(order, column, window), expected, rtol=1e-6)


def test_a_curve_begins_where_every_run_has_a_value(tmp_path):
    for seed in range(3):
        folder = write_run(tmp_path / f"s{seed}", SHORT.replace(seed=seed))
        header, *rows = [line.split(",") for line in (folder / "progress.csv").read_text().split()]
        for row in rows[: {0: 0, 1: 2, 2: 10}[seed]]:
            row[header.index("reward/episode")] = "nan"
        lines = [",".join(row) for row in (header, *rows)]
        (folder / "progress.csv").write_text("\n".join(lines) + "\n")
    runs = read_runs(tmp_path).runs
    curve = mean_curve(runs, "reward/episode")
    assert curve.steps.tolist() == [20_000 * k for k in range(3, 11)]
    known = np.stack([run.history.columns["reward/episode"][2:] for run in runs[:2]])
    np.testing.assert_allclose(curve.mean, known.mean(0))
