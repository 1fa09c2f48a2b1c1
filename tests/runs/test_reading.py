"""Reading run folders, whole ones and every kind of broken one."""

import json

import numpy as np
import pandas as pd
import pytest
from synthetic import write_run

from shapo.experiment import Experiment
from shapo.runs import reading as table

SHORT = Experiment(steps=200_000)


def the_reason(found: table.Runs) -> str:
    assert found.runs == []
    [skipped] = found.skipped
    assert "\n" not in skipped.reason
    return skipped.reason


def test_a_run_is_read_as_written(tmp_path):
    experiment = SHORT.replace(seed=3, gradient="shapo", hidden=(32, 16), cost_limit=(10.0, 2.0))
    folder = write_run(tmp_path / "sweep" / "a", experiment)
    [run] = table.read_runs(tmp_path).runs
    assert (run.name, run.folder, run.experiment) == ("sweep/a", folder, experiment)
    assert run.finished
    pd.testing.assert_frame_equal(
        run.progress, pd.read_csv(folder / "progress.csv"), check_dtype=False
    )
    assert len(table.read_episodes(run)) == 4 * experiment.iterations


def test_final_values_average_the_last_tenth(tmp_path):
    folder = write_run(tmp_path / "a", Experiment(steps=1_000_000))
    [run] = table.read_runs(folder).runs
    last = pd.read_csv(folder / "progress.csv")["reward/episode"].to_numpy()[-5:]
    assert run.final("reward/episode") == pytest.approx(last.mean())
    assert np.isnan(run.final("no/such"))
    assert run.until(400_000).steps == 400_000


def test_of_several_costs_the_first_is_shown(tmp_path):
    folder = write_run(tmp_path / "a", SHORT)
    for name, column in (("progress.csv", "cost/rate"), ("episodes.csv", "cost")):
        whole = pd.read_csv(folder / name)
        whole.rename(columns={column: f"{column}_1"}).assign(**{f"{column}_2": 7.0}).to_csv(
            folder / name, index=False
        )
    [run] = table.read_runs(folder).runs
    assert 0 < run.last("cost/rate") < 1
    assert run.last("cost/rate_2") == 7
    assert (table.read_episodes(run)["cost"] != 7).any()


def test_a_line_still_being_written_does_not_count(tmp_path):
    folder = write_run(tmp_path / "a", SHORT)
    whole = (folder / "progress.csv").read_text()
    (folder / "progress.csv").write_text(whole[:-3])
    [run] = table.read_runs(folder).runs
    assert len(run.progress) == SHORT.iterations - 1
    assert not run.finished


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("config.json", None, "config.json is missing"),
        ("config.json", b'{"version": "0.1', "not a run's configuration"),
        ("config.json", b"[1, 2]", "not a run's configuration"),
        ("progress.csv", None, "progress.csv is missing"),
        ("progress.csv", b"", "empty"),
        ("progress.csv", b"iteration,steps\n", "no finished iteration"),
        ("progress.csv", b"iteration,steps\n0,many\n", "many"),
        ("progress.csv", b"iteration,steps\n0,1\n1,2,3,4\n", "cannot be read"),
        ("progress.csv", b"\xff\xfe\x00", "not readable text"),
        ("progress.csv", b"iteration,loss\n0,1\n", "'steps'"),
        ("progress.csv", b"iteration,steps,steps\n0,1,1\n", "twice"),
        ("progress.csv", b"iteration,steps,cost,cost_1\n0,1,1,1\n", "twice"),
        ("config.json", b"[" * 100_000 + b"]" * 100_000, "not a run's configuration"),
    ],
)
def test_a_broken_folder_is_named_and_skipped(tmp_path, file, content, reason):
    folder = write_run(tmp_path / "broken", SHORT)
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content)
    found = table.read_runs(tmp_path)
    assert reason in the_reason(found)
    assert found.skipped[0].folder == folder


@pytest.mark.parametrize(
    ("field", "value"),
    [("steps", "many"), ("radius", None), ("hidden", 64), ("hidden", [[64]]), ("flux", 1)],
)
def test_a_configuration_from_elsewhere_is_named(tmp_path, field, value):
    folder = write_run(tmp_path / "foreign", SHORT)
    config = json.loads((folder / "config.json").read_text())
    config["experiment"][field] = value
    (folder / "config.json").write_text(json.dumps(config))
    assert field in the_reason(table.read_runs(tmp_path))


def test_runs_of_another_version_are_kept_apart(tmp_path):
    for seed in range(2):
        write_run(tmp_path / f"new{seed}", SHORT.replace(seed=seed), version=f"0.2.{seed}")
    write_run(tmp_path / "old", SHORT, version="0.1.9")
    found = table.read_runs(tmp_path)
    assert [run.name for run in found.runs] == ["new0", "new1"]
    assert [skipped.folder.name for skipped in found.skipped] == ["old"]
    assert "0.1.9" in found.skipped[0].reason


def test_a_recorded_failure_is_the_reason(tmp_path):
    folder = write_run(tmp_path / "failed", SHORT, iterations=3)
    (folder / "failure.txt").write_text("out of memory\n")
    assert table.read_runs(tmp_path).runs[0].failure == "out of memory"
    (folder / "progress.csv").unlink()
    assert the_reason(table.read_runs(tmp_path)) == "failed: out of memory"


def test_a_missing_folder_is_refused_with_a_suggestion(tmp_path):
    (tmp_path / "runs").mkdir()
    with pytest.raises(ValueError, match=r"did you mean .*runs\?"):
        table.read_runs(tmp_path / "rnus")


def test_mean_curve_goes_as_far_as_every_run(tmp_path):
    write_run(tmp_path / "a", SHORT.replace(seed=0))
    write_run(tmp_path / "b", SHORT.replace(seed=1), iterations=6)
    a, b = table.read_runs(tmp_path).runs
    curve = table.mean_curve([a, b], "reward/episode")
    both = np.stack([r.progress["reward/episode"].to_numpy()[:6] for r in (a, b)])
    np.testing.assert_allclose(curve.steps, b.progress["steps"])
    np.testing.assert_allclose(curve.mean, both.mean(0))
    np.testing.assert_allclose(curve.error, np.abs(both[0] - both[1]) / 2)


def test_mean_curve_of_different_batch_sizes_interpolates(tmp_path):
    write_run(tmp_path / "a", SHORT)
    write_run(tmp_path / "b", SHORT.replace(num_envs=10))
    curve = table.mean_curve(table.read_runs(tmp_path).runs, "cost/total")
    assert curve.steps[-1] == 200_000
    assert np.all(np.diff(curve.mean) > 0)
    assert table.mean_curve(table.read_runs(tmp_path).runs, "no/such").steps.size == 0
