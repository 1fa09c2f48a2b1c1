"""A finished run that is asked for more steps ends with the files of one that was asked for them at once."""

import json
import shutil
import warnings

import hostile
import numpy as np
import pytest
from hostile import write_run
from test_resume import EXPERIMENT, Stop, files_in, same_files, stop_after
from toy_env import Toy

from shapo.runs import integrity, resuming
from shapo.runs.checkpoints import newest_first
from shapo.runs.folder import Run
from shapo.runs.resuming import CannotResume
from shapo.training import train
from shapo.words import BadInput

SHORT = EXPERIMENT.replace(steps=600)  # 3 of 5 iterations
# One process compiles the toy's learner for all who train it.
pytestmark = pytest.mark.xdist_group("toy")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return train(EXPERIMENT, tmp_path_factory.mktemp("long") / "run", env=Toy).folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return train(SHORT, tmp_path_factory.mktemp("short") / "run", env=Toy).folder


def extended(finished, folder, **options):
    """Ask a copy of the finished run for the whole length."""
    if not folder.exists():
        shutil.copytree(finished, folder)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        train(EXPERIMENT, folder, env=Toy, resume=True, **options)
    return [str(each.message) for each in said]


def same_run(folder, whole):
    """All files, and the state after the last iteration; configs differ in the id and in what was asked before."""
    same_files(folder, whole)
    ours, theirs = (next(newest_first(each / "checkpoints")) for each in (folder, whole))
    assert ours.iteration == theirs.iteration == 4
    assert ours.arrays.keys() == theirs.arrays.keys()
    for name, array in ours.arrays.items():
        np.testing.assert_array_equal(array, theirs.arrays[name], err_msg=name)
    ours, theirs = (json.loads((each / "config.json").read_text()) for each in (folder, whole))
    assert ours.pop("id") != theirs.pop("id") and ours.pop("extended_from") == [600]
    assert ours == theirs
    assert integrity.is_sealed(folder) and integrity.check(folder) == []
    assert Run.open(folder).finished and Run.open(folder).policy


def test_an_extended_run_is_one_long_run(finished, whole, tmp_path):
    assert extended(finished, tmp_path / "run") == []
    same_run(tmp_path / "run", whole)


def test_a_killed_extension_goes_on(finished, whole, tmp_path):
    with pytest.raises(Stop):
        extended(finished, tmp_path / "run", watch=stop_after(3))
    assert not integrity.is_sealed(tmp_path / "run") and not integrity.check(tmp_path / "run")
    assert extended(finished, tmp_path / "run") == []
    same_run(tmp_path / "run", whole)


def test_killed_between_the_seal_and_the_config(finished, whole, tmp_path, monkeypatch):
    """It is as it was but for the seal, which the next one who goes on makes up for, whatever is wanted then."""
    with monkeypatch.context() as patch, pytest.raises(Stop):
        patch.setattr(resuming, "write_json", stop)
        extended(finished, tmp_path / "run")
    assert not integrity.is_sealed(tmp_path / "run")
    train(SHORT, tmp_path / "run", env=Toy, resume=True)
    here, there = (
        {path.relative_to(folder): content for path, content in files_in(folder).items()}
        for folder in (tmp_path / "run", finished)
    )
    assert here == there
    extended(finished, tmp_path / "run")
    same_run(tmp_path / "run", whole)


def stop(*_):
    raise Stop


@pytest.mark.parametrize("harm", ["checkpoints gone", "row changed"])
def test_what_cannot_go_on_is_refused_and_stays_as_it_is(finished, tmp_path, harm):
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    if harm == "checkpoints gone":
        shutil.rmtree(folder / "checkpoints")
    else:
        table = folder / "progress.csv"
        table.write_text(table.read_text().replace("0,200,", "0,201,", 1))
    before = files_in(folder)
    with pytest.raises(CannotResume, match=r"checkpoints are gone|not what was written"):
        extended(finished, folder)
    assert files_in(folder) == before


def test_a_run_is_not_shortened(finished):
    with pytest.raises(BadInput, match="steps is 600 in the run, 400 was asked for"):
        train(SHORT.replace(steps=400), finished, env=Toy, resume=True)


@pytest.mark.parametrize(
    "choices, said",
    [
        ({"algo": "ppo-lagrangian"}, "ppo_rate falls linearly to 0 over all steps"),
        ({"gradient": "shapo", "schedule": "decay"}, ""),
        ({"gradient": "mine:Rule"}, "mine:Rule may look at progress.remaining"),
        ({"algo": "custom: Mine()", "gradient": "custom: in algo"}, "Mine() may look at progress.remaining"),
        ({"gradient": "sam", "schedule": "mine:Falling"}, ""),  # of SHAPO alone, which this is not
    ],
)  # fmt: skip
def test_what_depends_on_the_length_is_known(choices, said):
    assert resuming.depends_on_length(EXPERIMENT.replace(**choices)) == said


def test_who_asked_for_more_steps_is_not_warned_of_them(tmp_path):
    folder = write_run(tmp_path / "run", hostile.EXPERIMENT.replace(algo="trpo"))
    resuming.extend(Run.open(folder), 400)
    assert resuming.where_to_go_on(Run.open(folder)).notes == []


def test_a_rate_that_falls_with_progress_is_told(tmp_path):
    ppo = write_run(tmp_path / "run", hostile.EXPERIMENT.replace(algo="ppo"))
    resuming.extend(Run.open(ppo), 400)
    (line,) = resuming.where_to_go_on(Run.open(ppo)).notes
    assert "steps is 400, but was 200" in line
    assert line.endswith("over all steps, so this is not the same as one run of this length")
