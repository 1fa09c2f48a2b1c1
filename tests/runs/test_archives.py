"""An archive says of its runs what they say of themselves."""

import gzip
import json
import tracemalloc

import numpy as np
import pytest
from synthetic import write_run

from shapo.cli import main as cli
from shapo.experiment import Experiment
from shapo.experiments import quantities
from shapo.experiments.counting import counted
from shapo.runs import archives
from shapo.runs.archives import GROWING, KEPT, read_archive, write_archive
from shapo.runs.config import BadConfig
from shapo.runs.reading import read_runs

EXPERIMENT = Experiment(steps=10_000_000, gradient="shapo", critic_gradient="sam")  # 500 iterations


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for seed in range(2):
        write_run(folder / f"seed{seed}", EXPERIMENT.replace(seed=seed))
    return read_runs(folder).runs


def test_every_number_that_tables_show_is_the_same(runs, tmp_path):
    write_archive(runs, tmp_path / "study.runs.gz")
    again, skipped = read_runs(tmp_path)
    assert not skipped
    assert [each.experiment for each in again] == [each.experiment for each in runs]
    for ours, theirs in zip(again, runs, strict=True):
        assert ours.finished and len(ours.history.values("steps")) == 100
        for column in set(KEPT) & theirs.history.columns.keys():
            shown = (lambda run: run.last) if column in GROWING else (lambda run: run.final)
            value, expected = (shown(run.history)(column) for run in (ours, theirs))
            np.testing.assert_allclose(value, expected, rtol=1e-6, err_msg=column)


def test_every_number_that_a_run_is_known_by_is_the_same(runs, tmp_path):
    """Whatever an archive calls growing."""
    write_archive(runs, tmp_path / "study.runs.gz")
    known = [each for each in vars(quantities).values() if isinstance(each, quantities.Quantity)]
    known.append(quantities.Quantity("seconds", "time/seconds", "so far"))
    assert len(known) > 9
    for ours, theirs in zip(read_archive(tmp_path / "study.runs.gz"), runs, strict=True):
        for each in known:
            assert each.of(ours) == pytest.approx(each.of(theirs), rel=1e-6), each.name


@pytest.mark.parametrize("iterations", [250, 350, 137, 23, 1])
def test_the_end_of_a_run_of_any_length_is_the_same(tmp_path, iterations):
    """250 iterations, Walker2d's, are not a multiple of a hundred rows."""
    experiment = EXPERIMENT.replace(steps=iterations * EXPERIMENT.batch_steps)
    write_run(tmp_path / "run", experiment)
    (run,), _ = read_runs(tmp_path / "run")
    write_archive([run], tmp_path / "one.runs.gz")
    (again,) = read_archive(tmp_path / "one.runs.gz")
    assert len(again.history.values("steps")) <= 100
    for column in ("reward/episode", "cost/episode", "cost/p95"):
        expected = run.history.final(column)
        np.testing.assert_allclose(again.history.final(column), expected, rtol=1e-6)
        # Rows of an archive stand for unequal numbers of iterations.
        overall = run.history.values(column).mean()
        assert run.history.overall(column) == pytest.approx(overall, rel=1e-12)
        np.testing.assert_allclose(again.history.overall(column), overall, rtol=1e-6)


def test_equal_runs_make_an_equal_file_and_a_small_one(runs, tmp_path):
    first, second = tmp_path / "a.runs.gz", tmp_path / "b.runs.gz"
    write_archive(runs, first)
    write_archive(list(reversed(runs)), second)
    assert first.read_bytes() == second.read_bytes()
    assert len(first.read_bytes()) < 10_000 * len(runs)


def test_an_archive_grows(runs, tmp_path, capsys):
    both, grown = tmp_path / "both.runs.gz", tmp_path / "grown.runs.gz"
    write_archive(runs, both)
    write_archive(runs[:1], grown)
    folders = [str(run.folder) for run in runs]  # of which one is in the archive already
    cli.main(["archive", str(grown), *folders, "--out", str(grown)])
    assert "2 runs in" in capsys.readouterr().out
    assert grown.read_bytes() == both.read_bytes()


@pytest.mark.parametrize("damaged", [False, True])
def test_no_run_is_lost_when_an_archive_is_written(damaged, runs, tmp_path, capsys):
    path = tmp_path / "kept.runs.gz"
    write_archive(runs, path)
    if damaged:  # as a download that broke off
        path.write_bytes(path.read_bytes()[:-100])
    before = path.read_bytes()
    told = "cannot be read" if damaged else "holds 1 run that would be lost, seed1 for one"
    for words in ([runs[0].folder], [path, runs[0].folder] if damaged else [runs[0].folder]):
        with pytest.raises(SystemExit):
            cli.main(["archive", *map(str, words), "--out", str(path)])
        assert told in capsys.readouterr().err
        assert path.read_bytes() == before


def test_two_runs_of_one_name_are_not_one(runs, tmp_path):
    write_run(tmp_path / runs[0].folder.name, EXPERIMENT.replace(seed=7))
    first, again = tmp_path / "all.runs.gz", tmp_path / "again.runs.gz"
    assert write_archive([*runs, *read_runs(tmp_path).runs], first) == 3
    kept = {run.folder.name: run.experiment.seed for run in read_archive(first)}
    assert kept == {"seed0": 0, "seed0-2": 7, "seed1": 1}
    assert write_archive([*read_archive(first), *runs], again) == 3
    assert again.read_bytes() == first.read_bytes()


def test_other_names_and_other_contents_are_refused(runs, tmp_path):
    with pytest.raises(ValueError, match=r"ends in \.runs\.gz"):
        write_archive(runs, tmp_path / "study.zip")
    for content in (b"no gzip", gzip.compress(b"{}"), gzip.compress(b"[1"), gzip.compress(b"7")):
        (tmp_path / "bad.runs.gz").write_bytes(content)
        with pytest.raises(BadConfig, match=r"bad\.runs\.gz is not an archive of runs"):
            read_archive(tmp_path / "bad.runs.gz")
    assert [skipped.folder.name for skipped in read_runs(tmp_path).skipped] == ["bad.runs.gz"]


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda rows: rows.update({"cost/rate": rows["cost/rate"][1:]}), "unequal length"),
        (lambda rows: rows.update({"cost/rate": [[x] for x in rows["cost/rate"]]}), "unequal"),
        (lambda rows: rows.update({"steps": [[x] for x in rows["steps"]]}), "unequal length"),
        (lambda rows: rows["steps"].__setitem__(3, None), "lacks numbers in column 'steps'"),
        (lambda rows: rows["steps"].__setitem__(3, 10**400), "too large"),
        (lambda rows: rows.pop("steps"), "lacks numbers in column 'steps'"),
        (lambda rows: rows.clear(), "is missing or empty"),
        (None, "while decompressing"),
    ],
)
def test_a_damaged_archive_is_named_and_the_rest_is_read(damage, complaint, runs, tmp_path):
    path = tmp_path / "bad.runs.gz"
    write_archive(runs[:1], path)
    if damage is None:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 0xFF
    else:
        content = json.loads(gzip.decompress(path.read_bytes()))
        damage(content["rows"])
        content = gzip.compress(json.dumps(content).encode())
    path.write_bytes(bytes(content))
    write_archive(runs[1:], tmp_path / "good.runs.gz")
    found = read_runs(tmp_path)
    assert [run.folder.name for run in found.runs] == ["seed1"]
    ((place, reason),) = found.skipped
    assert place == path and complaint in reason


def test_a_file_that_unpacks_to_more_than_any_archive_is_refused(tmp_path, monkeypatch):
    """And no more of it is unpacked than it takes to know."""
    monkeypatch.setattr(archives, "LARGEST", 2**20)
    path = tmp_path / "bomb.runs.gz"
    path.write_bytes(gzip.compress(b" " * 2**26))
    tracemalloc.start()
    try:
        with pytest.raises(BadConfig, match=r"^bomb\.runs\.gz is not an .*at most 1,048,576 bytes"):
            read_archive(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**23


def test_what_could_not_be_read_is_not_written(runs, tmp_path, monkeypatch):
    one, both = tmp_path / "one.runs.gz", tmp_path / "both.runs.gz"
    write_archive(runs[:1], one)
    monkeypatch.setattr(archives, "LARGEST", len(gzip.decompress(one.read_bytes())))
    assert [run.folder.name for run in read_archive(one)] == ["seed0"]
    with pytest.raises(ValueError, match=r"both\.runs\.gz: .*put the runs into several"):
        write_archive(runs, both)
    assert not both.exists()


def test_an_archive_leads_nowhere_else(runs, tmp_path):
    path = tmp_path / "study.runs.gz"
    write_archive(runs[:1], path)
    content = json.loads(gzip.decompress(path.read_bytes()))
    for name in ("..", "../other", str(runs[1].folder)):
        path.write_bytes(gzip.compress(json.dumps(content | {"name": name}).encode()))
        with pytest.raises(BadConfig, match="leads out of it"):
            read_archive(path)


@pytest.mark.parametrize("given", ["", "study.runs.gz"])
def test_shapo_runs_lists_what_is_in_an_archive(given, runs, tmp_path, capsys):
    write_archive(runs, tmp_path / "study.runs.gz")
    cli.dispatch(["runs", str(tmp_path / given), "--check"])
    _, *lines, said = capsys.readouterr().out.splitlines()
    expected = [[str(tmp_path / f"study.runs.gz/seed{seed}"), "10,000,000"] for seed in range(2)]
    assert [line.split()[:2] for line in lines] == expected
    for line, run in zip(lines, runs, strict=True):
        numbers = [float(word) for word in line.split()[2:4]]
        late = [run.history.values(name)[-5:].mean() for name in ("reward/episode", "cost/episode")]
        np.testing.assert_allclose(numbers, late, atol=0.006)
        assert line.split()[4:] == ["of", "10", "finished"]
    assert said == "2 runs sound"


def test_a_run_is_as_long_in_an_archive_as_in_its_folder(tmp_path, capsys):
    """To the step, though numbers there have seven digits."""
    odd = EXPERIMENT.replace(num_envs=1, steps_per_env=12_345_674, steps=12_345_674)
    write_archive([read_runs(write_run(tmp_path / "odd", odd)).runs[0]], tmp_path / "odd.runs.gz")
    cli.dispatch(["runs", str(tmp_path / "odd.runs.gz")])
    line = capsys.readouterr().out.splitlines()[1].split()
    assert line[1] == "12,345,674" and line[6:] == ["finished"]


def test_runs_of_an_archive_and_of_folders_are_of_one_length(tmp_path):
    """306 batches of 32,768 steps are 10,027,008, which an archive writes as 10,027,010."""
    long = EXPERIMENT.replace(num_envs=16, steps_per_env=2048)
    (one, other) = (
        read_runs(write_run(tmp_path / f"s{seed}", long.replace(seed=seed))).runs[0]
        for seed in range(2)
    )
    write_archive([one], tmp_path / "one.runs.gz")
    (packed,) = read_archive(tmp_path / "one.runs.gz")
    assert packed.history.steps == other.history.steps == 10_027_008
    assert counted([packed, other]).left_out == []
    ends = one.history.values("steps")[packed.history.values("iteration").astype(int)]
    np.testing.assert_array_equal(packed.history.values("steps"), ends)


@pytest.mark.parametrize("content", [b"no gzip", None])
def test_shapo_runs_names_an_archive_that_cannot_be_read(content, runs, tmp_path, capsys):
    path = tmp_path / "bad.runs.gz"
    write_archive(runs, path)
    lines = gzip.decompress(path.read_bytes()).decode().replace('"steps": [', '"steps": [null, ')
    lines = lines.replace("10000000.0]", "null]")
    path.write_bytes(content or gzip.compress(lines.encode()))
    with pytest.raises(Exception, match="1 of 1 run damaged"):
        cli.dispatch(["runs", str(tmp_path), "--check"])
    assert "unreadable: " in (said := capsys.readouterr().out)
    assert said.splitlines()[1].split()[:4] == [str(path), "0", "–", "–"]
    with pytest.raises(ValueError, match=r"none\.runs\.gz: no such folder or archive"):
        cli.dispatch(["runs", str(tmp_path / "none.runs.gz")])
