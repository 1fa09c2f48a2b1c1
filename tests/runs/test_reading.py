"""Finding run folders, whole ones and every kind of broken one."""

import json
import subprocess
import sys

import numpy as np
import pytest
from synthetic import write_run

from shapo.experiment import Experiment
from shapo.runs.folder import Run
from shapo.runs.reading import Runs, names, read_episodes, read_runs

SHORT = Experiment(steps=200_000)


def the_reason(found: Runs) -> str:
    assert found.runs == []
    [skipped] = found.skipped
    assert "\n" not in skipped.reason
    return skipped.reason


def test_reading_is_light():
    heavy = ("jax", "mujoco", "numba", "scipy", "matplotlib", "pandas")
    program = f"import sys, shapo.runs.reading; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_a_run_is_read_as_written(tmp_path):
    experiment = SHORT.replace(seed=3, gradient="shapo", hidden=(32, 16), cost_limit=(10.0, 2.0))
    folder = write_run(tmp_path / "sweep" / "a", experiment, version="7.1.2")
    [run] = read_runs(tmp_path).runs
    assert (run.folder, run.experiment, run.version) == (folder, experiment, "7.1.2")
    assert run.finished
    header, *lines = (folder / "progress.csv").read_text().splitlines()
    rows = [[float(word) for word in line.split(",")] for line in lines]
    columns = map(list, zip(*rows, strict=True))
    for name, column in zip(header.split(","), columns, strict=True):
        np.testing.assert_array_equal(run.history.columns[name], column)
    assert len(read_episodes(run).values("return")) == 4 * experiment.iterations


def test_one_picture_shows_one_moment(tmp_path):
    folder = write_run(tmp_path / "a", SHORT, iterations=3)
    [kept] = read_runs(folder).runs
    going_on = Run.open(folder)
    line = (folder / "progress.csv").read_text().splitlines()[-1].split(",")
    with open(folder / "progress.csv", "a") as file:
        file.write(",".join(["3", "80000", *line[2:]]) + "\n")
    assert kept.history.steps == 60_000 and going_on.history.steps == 80_000


def test_runs_are_called_by_what_tells_their_folders_apart(tmp_path):
    for name in ("one/a", "one/b", "two/a"):
        write_run(tmp_path / name, SHORT)
    whole = read_runs(tmp_path / "one", tmp_path / "two", tmp_path / "one" / "a").runs
    assert names(whole) == ["one/a", "one/b", "two/a"], "each once"
    assert names(whole[:2]) == ["a", "b"] and names([]) == []


def test_a_line_still_being_written_does_not_count(tmp_path):
    folder = write_run(tmp_path / "a", SHORT)
    whole = (folder / "progress.csv").read_text()
    (folder / "progress.csv").write_text(whole[:-3])
    [run] = read_runs(folder).runs
    assert len(run.history.values("steps")) == SHORT.iterations - 1
    assert not run.finished


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("config.json", None, "config.json is missing"),
        ("config.json", b'{"version": "0.1', "not a run's config"),
        ("config.json", b"[1, 2]", "not a run's config"),
        ("config.json", b'{"experiment": {}, "extended_from": 3}', "not a run's config"),
        ("config.json", b'{"experiment": {}, "extended_from": [[]]}', "not a run's config"),
        ("progress.csv", None, "progress.csv is missing"),
        ("progress.csv", b"", "empty"),
        ("progress.csv", b"iteration,steps\n", "no finished iteration"),
        ("progress.csv", b"iteration,steps\n0,many\n", "many"),
        ("progress.csv", b"iteration,steps\n0,1\n1,2,3,4\n", "cannot be read"),
        ("progress.csv", b"iteration,steps\n0,1,2\n", "cannot be read"),
        ("progress.csv", b"iteration,steps\n0,nan\n", "'steps'"),
        ("progress.csv", b"\xff\xfe\x00", "cannot be read"),
        ("progress.csv", b"iteration,loss\n0,1\n", "'steps'"),
        ("progress.csv", b"iteration,steps,steps\n0,1,1\n", "twice"),
        ("config.json", b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
    ],
)
def test_a_broken_folder_is_named_and_skipped(tmp_path, file, content, reason):
    folder = write_run(tmp_path / "broken", SHORT)
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content)
    found = read_runs(tmp_path)
    assert reason in the_reason(found)
    assert found.skipped[0].folder == folder


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("steps", "many"),
        ("radius_per_dim", None),
        ("hidden", "64"),
        ("hidden", [[64]]),
        ("env", 1),
        ("env", "Toy\x1b[31m"),
        ("flux", 1),
    ],
)
def test_a_configuration_from_elsewhere_is_named(tmp_path, field, value):
    folder = write_run(tmp_path / "foreign", SHORT)
    config = json.loads((folder / "config.json").read_text())
    config["experiment"][field] = value
    (folder / "config.json").write_text(json.dumps(config))
    assert field in the_reason(read_runs(tmp_path))
    with pytest.raises(ValueError, match=field):
        Run.open(folder)


def test_choices_under_their_former_names_are_read(tmp_path):
    wanted = SHORT.replace(radius_per_dim=0.03, damping_per_dim=0.2, crpo_tolerance=1.0)
    folder = write_run(tmp_path / "former", wanted)
    text = (folder / "config.json").read_text()
    former = text.replace("_per_dim", "").replace("crpo_tolerance", "tolerance")
    assert former != text
    (folder / "config.json").write_text(former)
    assert Run.open(folder).experiment == wanted


def test_what_was_once_passed_as_an_object_is_not_taken_for_what_it_replaced(tmp_path):
    folder = write_run(tmp_path / "old", SHORT, version="0.1.0")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "custom": {"env": "m:f"}}))
    assert "written by shapo 0.1.0" in the_reason(read_runs(tmp_path))


def test_runs_of_another_version_are_kept_apart(tmp_path):
    for seed in range(2):
        write_run(tmp_path / f"new{seed}", SHORT.replace(seed=seed), version=f"0.2.{seed}")
    write_run(tmp_path / "old", SHORT, version="0.1.9")
    found = read_runs(tmp_path)
    assert names(found.runs) == ["new0", "new1"]
    assert [skipped.folder.name for skipped in found.skipped] == ["old"]
    assert "0.1.9" in found.skipped[0].reason


def test_a_recorded_failure_is_the_reason(tmp_path):
    folder = write_run(tmp_path / "failed", SHORT, iterations=3)
    (folder / "failure.txt").write_text("out of memory\n")
    assert read_runs(tmp_path).runs[0].failure == "out of memory"
    (folder / "progress.csv").unlink()
    assert the_reason(read_runs(tmp_path)) == "failed: out of memory"


def test_a_missing_folder_is_refused_with_a_suggestion(tmp_path):
    (tmp_path / "runs").mkdir()
    with pytest.raises(ValueError, match=r"did you mean .*runs\?"):
        read_runs(tmp_path / "rnus")
