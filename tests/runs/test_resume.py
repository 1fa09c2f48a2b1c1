"""A run that was stopped ends with the same files as one that was not."""

import shutil
import warnings

import pytest
from test_train import TINY, table_without_time
from toy_env import Toy

from shapo.runs.folder import Run
from shapo.training import train

EXPERIMENT = TINY.replace(steps=1000)  # 5 iterations


class Stop(Exception):
    pass


def stop_after(iteration):
    def watch(row):
        if row["iteration"] == iteration:
            raise Stop

    return watch


def same_files(folder, other):
    for name in ("progress.csv", "episodes.csv"):
        assert table_without_time(folder / name) == table_without_time(other / name)
    assert (folder / "policy.safetensors").read_bytes() == (
        other / "policy.safetensors"
    ).read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    train(EXPERIMENT, folder, env=Toy)
    return folder


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stopped") / "run"
    with pytest.raises(Stop):
        train(EXPERIMENT, folder, env=Toy, watch=stop_after(2))
    return folder


def resumed(stopped, folder, **changes):
    shutil.copytree(stopped, folder)
    return lambda: train(EXPERIMENT.replace(**changes), folder, env=Toy, resume=True)


def test_stopped_twice(whole, tmp_path):
    folder = tmp_path / "run"
    with pytest.raises(Stop):
        train(EXPERIMENT, folder, env=Toy, watch=stop_after(0))
    with pytest.raises(Stop):
        train(EXPERIMENT, folder, env=Toy, resume=True, watch=stop_after(3))
    train(EXPERIMENT, folder, env=Toy, resume=True)
    same_files(folder, whole)


def test_rows_after_the_checkpoint_are_redone(whole, stopped, tmp_path):
    """As if killed between writing a row and its checkpoint, in the middle of a line."""
    go_on = resumed(stopped, tmp_path / "run")
    for name in ("progress.csv", "episodes.csv"):
        with open(tmp_path / "run" / name, "a") as file:
            file.write("3,800,1,")
    go_on()
    same_files(tmp_path / "run", whole)


@pytest.mark.parametrize("damage", ["truncated", "flipped", "all gone"])
def test_a_damaged_checkpoint_is_passed_over(whole, stopped, tmp_path, damage):
    go_on = resumed(stopped, tmp_path / "run")
    older, newer = sorted((tmp_path / "run" / "checkpoints").iterdir())
    content = bytearray(newer.read_bytes())
    if damage == "flipped":
        content[len(content) // 2] ^= 4
    damaged = (newer, older) if damage == "all gone" else (newer,)
    for path in damaged:
        path.write_bytes(bytes(content if damage == "flipped" else content[:100]))
    with pytest.warns(UserWarning) as said:
        go_on()
    for path, each in zip(damaged, said, strict=True):
        assert f"{path} is damaged" in str(each.message)
    same_files(tmp_path / "run", whole)


def test_killed_before_the_first_checkpoint(whole, tmp_path):
    folder = tmp_path / "run"
    Run.create(folder, EXPERIMENT.replace(env="toy_env:Toy"), {})
    train(EXPERIMENT, folder, env=Toy, resume=True)
    same_files(folder, whole)


def test_another_number_of_workers_may_go_on(whole, stopped, tmp_path):
    """Not through `train`, which refuses any change, but with the config edited by hand."""
    go_on = resumed(stopped, tmp_path / "run", workers=1)
    path = tmp_path / "run" / "config.json"
    path.write_text(path.read_text().replace('"workers": 2', '"workers": 1'))
    go_on()
    same_files(tmp_path / "run", whole)


def test_a_changed_config_is_refused_with_the_difference(stopped, tmp_path):
    go_on = resumed(stopped, tmp_path / "run", seed=9)
    with pytest.raises(ValueError, match="seed is 5 in the run, 9 was asked for"):
        go_on()
    with pytest.raises(ValueError, match="env is toy_env:Toy in the run, Toy was asked for"):
        train(EXPERIMENT, tmp_path / "run", resume=True)


def test_a_finished_run_stays_as_it_is(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    before = (tmp_path / "run" / "progress.csv").read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert train(EXPERIMENT, tmp_path / "run", env=Toy, resume=True).finished
    assert (tmp_path / "run" / "progress.csv").read_bytes() == before
