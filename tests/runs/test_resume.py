"""A run that was stopped ends with the same files as one that was not."""

import json
import shlex
import shutil
import warnings
from importlib.metadata import version
from pathlib import Path

import pytest
from test_train import TINY, read_events, table_without_time
from toy_env import Toy

from shapo.runs import integrity, writing
from shapo.runs.checkpoints import save_checkpoint
from shapo.runs.folder import Run
from shapo.runs.reading import read_runs
from shapo.runs.resuming import CannotResume, how_to_continue, where_to_go_on
from shapo.training import train
from shapo.words import BadInput

EXPERIMENT = TINY.replace(steps=1000)  # 5 iterations
# One process compiles the toy's learner for all who train it.
pytestmark = pytest.mark.xdist_group("toy")


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


@pytest.mark.parametrize("damage", ["truncated", "flipped", "a row of its own"])
def test_a_damaged_checkpoint_is_passed_over(whole, stopped, tmp_path, damage):
    go_on = resumed(stopped, tmp_path / "run")
    _, newer = sorted((tmp_path / "run" / "checkpoints").iterdir())
    culprit = tmp_path / "run" / "progress.csv" if damage == "a row of its own" else newer
    content = bytearray(culprit.read_bytes())
    if damage == "truncated":
        del content[100:]
    else:
        content[len(content) // 2 if damage == "flipped" else -9] ^= 1
    culprit.write_bytes(content)
    with pytest.warns(UserWarning) as said:
        go_on()
    (each,) = said
    assert str(culprit) in str(each.message) and "continuing from the one before" in str(
        each.message
    )
    same_files(tmp_path / "run", whole)


def files_in(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("lost", ["emptied", "removed", "damaged"])
def test_rows_without_a_checkpoint_are_never_overwritten(stopped, tmp_path, lost):
    go_on = resumed(stopped, tmp_path / "run")
    for path in (tmp_path / "run" / "checkpoints").iterdir():
        path.write_bytes(b"") if lost == "damaged" else path.unlink()
    if lost == "removed":
        (tmp_path / "run" / "checkpoints").rmdir()
    before = files_in(tmp_path / "run")
    with pytest.raises(CannotResume, match=r"rows of 3 iterations and no checkpoint.*--restart"):
        go_on()
    assert files_in(tmp_path / "run") == before


def test_why_it_stopped_is_forgotten_when_it_goes_on(stopped, tmp_path):
    go_on = resumed(stopped, tmp_path / "run")
    (tmp_path / "run" / "failure.txt").write_text("killed by signal 9")
    assert go_on().failure == ""


def test_what_to_type_can_be_typed():
    """Also where a path has a space in it, and with code that no folder has imported by itself."""
    experiment = TINY.replace(env="toy_env:Toy")
    command = how_to_continue(Path("my runs/one"), experiment)
    assert shlex.split(command) == [
        "shapo", "train", "--resume", "my runs/one", "--env", "toy_env:Toy",
    ]  # fmt: skip


def test_begun_anew_the_old_files_are_kept_aside(whole, stopped, tmp_path):
    go_on = resumed(stopped, tmp_path / "run")
    before = {path.relative_to(stopped): content for path, content in files_in(stopped).items()}
    for number in ("1", "2"):
        place = Run.open(tmp_path / "run").set_aside()
        assert place == tmp_path / "run" / "aside" / number
    first = tmp_path / "run" / "aside" / "1"
    assert {path.relative_to(first): content for path, content in files_in(first).items()} == before
    go_on()
    same_files(tmp_path / "run", whole)


def test_killed_between_the_first_rows_and_their_checkpoint(whole, stopped, tmp_path):
    go_on = resumed(stopped, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "checkpoints")
    for name in ("progress.csv", "episodes.csv"):
        lines = (tmp_path / "run" / name).read_text().splitlines(keepends=True)
        (tmp_path / "run" / name).write_text("".join(lines[:2]))
    go_on()
    same_files(tmp_path / "run", whole)


@pytest.mark.parametrize("name", integrity.SEALED)
@pytest.mark.parametrize("damage", ["flipped", "cut", "emptied", "deleted"])
def test_damage_in_a_finished_run_is_seen(whole, tmp_path, name, damage):
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    changed = {"flipped": content, "cut": content[:-20], "emptied": b"", "deleted": None}[damage]
    (folder / name).unlink() if changed is None else (folder / name).write_bytes(changed)
    assert any(name in line for line in integrity.check(folder))
    with pytest.raises(BadInput, match=r"no run|is damaged|not a run's config|another config"):
        train(EXPERIMENT, folder, env=Toy, resume=True)
    [skipped] = read_runs(folder).skipped
    assert name in skipped.reason


def test_a_finished_run_needs_no_checkpoints(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "checkpoints")
    before = files_in(tmp_path / "run")
    assert train(EXPERIMENT, tmp_path / "run", env=Toy, resume=True).finished
    assert files_in(tmp_path / "run") == before
    assert integrity.check(tmp_path / "run") == []


def test_killed_before_the_seal(whole, tmp_path):
    """All is written but the manifest: it is made up for, and nothing else changes."""
    shutil.copytree(whole, tmp_path / "run")
    before = files_in(tmp_path / "run")
    (tmp_path / "run" / "manifest.json").unlink()
    train(EXPERIMENT, tmp_path / "run", env=Toy, resume=True)
    assert files_in(tmp_path / "run") == before


def test_what_a_crash_left_is_tidied_and_what_others_left_is_not(whole, stopped, tmp_path):
    go_on = resumed(stopped, tmp_path / "run")
    checkpoints = tmp_path / "run" / "checkpoints"
    third = checkpoints / "000000.safetensors"
    shutil.copy(checkpoints / "000001.safetensors", third)
    left = [tmp_path / "run" / ".policy.safetensors.tmp", checkpoints / ".000003.safetensors.tmp"]
    stray = checkpoints / "000002 copy.safetensors"
    for path in (*left, stray):
        path.write_bytes(b"half")
    go_on()
    assert stray.exists() and not any(path.exists() for path in (*left, third))
    same_files(tmp_path / "run", whole)


def test_a_changed_file_of_choices_is_refused_with_the_difference(stopped, tmp_path):
    """The config itself was edited, so what is asked for agrees with it."""
    go_on = resumed(stopped, tmp_path / "run", gae=0.9)
    config = tmp_path / "run" / "config.json"
    config.write_text(config.read_text().replace('"gae": 0.95', '"gae": 0.9'))
    with pytest.raises(CannotResume, match=r"gae is 0\.9, but was 0\.95"):
        go_on()
    with pytest.raises(BadInput, match=r"trained with: gae is 0\.9, but was 0\.95"):
        _ = Run.open(tmp_path / "run").policy


def test_another_policy_in_the_place_of_a_finished_one_is_refused(whole, stopped, tmp_path):
    """The same run's, but an earlier one: whole in itself, and of the same experiment."""
    shutil.copytree(whole, tmp_path / "run")
    shutil.copy(stopped / "policy.safetensors", tmp_path / "run")
    with pytest.raises(BadInput, match=r"policy\.safetensors is not what was written"):
        _ = Run.open(tmp_path / "run").policy


def test_a_changed_length_is_told(stopped, tmp_path):
    shutil.copytree(stopped, tmp_path / "run")
    config = tmp_path / "run" / "config.json"
    config.write_text(config.read_text().replace('"steps": 1000', '"steps": 1400'))
    [line] = where_to_go_on(Run.open(tmp_path / "run")).notes
    assert "steps is 1400, but was 1000" in line
    assert Run.open(tmp_path / "run").policy


def test_other_versions_are_named(stopped, tmp_path):
    shutil.copytree(stopped, tmp_path / "run")
    config = tmp_path / "run" / "config.json"
    content = json.loads(config.read_text())
    content["version"], content["packages"]["jax"] = "0.0.1", "0.1.2"
    config.write_text(json.dumps(content))
    [line] = where_to_go_on(Run.open(tmp_path / "run")).notes
    assert "shapo 0.0.1, jax 0.1.2, this is shapo" in line and f"jax {version('jax')}" in line
    content |= {"arithmetic": "znver9"}
    config.write_text(json.dumps(content))
    [line] = where_to_go_on(Run.open(tmp_path / "run")).notes
    assert "jax 0.1.2, arithmetic znver9, this is shapo" in line
    assert where_to_go_on(Run.open(stopped)).notes == []


def test_nothing_is_missing_from_tensorboard(stopped, tmp_path, monkeypatch):
    """As if killed when the checkpoint of the third iteration has just got its name."""

    def save_and_die(folder, checkpoint):
        save_checkpoint(folder, checkpoint)
        if checkpoint.iteration == 2:
            raise Stop

    with monkeypatch.context() as patch, pytest.raises(Stop):
        patch.setattr(writing, "save_checkpoint", save_and_die)
        train(EXPERIMENT, tmp_path / "run", env=Toy)
    train(EXPERIMENT, tmp_path / "run", env=Toy, resume=True)
    events = [read_events(path) for path in (tmp_path / "run" / "tensorboard").iterdir()]
    assert {step for each in events for _, step in each} == set(range(5))


def test_killed_before_the_first_checkpoint(whole, tmp_path):
    folder = tmp_path / "run"
    Run.create(folder, EXPERIMENT.replace(env="toy_env:Toy"))
    train(EXPERIMENT, folder, env=Toy, resume=True)
    same_files(folder, whole)


def test_another_number_of_workers_may_go_on(whole, stopped, tmp_path):
    resumed(stopped, tmp_path / "run", workers=2)()
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
