"""Looking for a run where none is."""

import pytest
from hostile import write_run

from shapo.runs.absent import ARCHIVE
from shapo.runs.archives import write_archive
from shapo.runs.folder import Run
from shapo.runs.policies import load
from shapo.runs.reading import read_runs
from shapo.words import BadInput


@pytest.fixture
def runs(tmp_path):
    for name in ("first", "second"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "config.json").write_text("{}")
    (tmp_path / "empty").mkdir()
    return tmp_path / "runs"


def said(look, path) -> str:
    with pytest.raises(BadInput) as error:
        look(path)
    return str(error.value).replace(f"{path.parents[0]}/", "")


@pytest.mark.parametrize("look", [Run.open, load])
def test_a_folder_without_a_run_and_what_was_meant(look, runs):
    assert said(look, runs / "frist") == (
        "frist holds no run: there is no such folder; did you mean first?"
    )
    assert said(look, runs.parent / "empty") == "empty holds no run (no config.json)"
    assert said(look, runs) == (
        "runs is a folder of runs; name one of them: runs/first; "
        f"`shapo runs {runs}` lists them all".replace(f"{runs.parent}/", "")
    )
    assert "runs/first" in said(look, runs.parent)


def test_a_file_of_a_run_is_not_the_run(runs):
    assert said(Run.open, runs / "first" / "config.json").endswith(
        f"it is a file; name its folder, {runs / 'first'}"
    )


@pytest.mark.parametrize("look", [Run.open, load])
def test_an_archive_keeps_no_policies(look, tmp_path):
    archive = tmp_path / f"all{ARCHIVE}"
    write_archive(read_runs(write_run(tmp_path / "first", iterations=4)).runs, archive)
    for place in (archive, archive / "first"):
        assert "is in an archive, which keeps the rows of runs, not policies" in said(look, place)


def test_a_run_that_has_no_policy_yet(runs):
    assert said(load, runs / "first") == (
        "first holds no policy yet; a run writes it after its first iteration"
    )


def test_a_folder_of_runs_that_is_not_there(runs):
    assert said(read_runs, runs.parent / "rums") == (
        "rums: no such folder or archive; did you mean runs?"
    )
