"""A run trained again from its record gives the same numbers, and where it does not, that is seen."""

import dataclasses
import json
import tempfile

import numpy as np
import pytest
from test_cli import TINY, shapo
from toy_env import Toy

from shapo.experiment import Experiment
from shapo.experiments.repeat import repeat
from shapo.runs import archives
from shapo.runs.archives import write_archive
from shapo.runs.folder import Run
from shapo.runs.history import History
from shapo.runs.reading import find_run
from shapo.training import train
from shapo.words import BadInput

EXPERIMENT = Experiment(
    "toy_env:Toy", "trpo-pid", "shapo", steps=1600, num_envs=4, steps_per_env=50, workers=1, hidden=(8,),
    critic_minibatch=40, cost_limit=(1.0,),
)  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded") / "toy"
    return train(EXPERIMENT, folder, env=Toy)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Where what is thrown away lies until then."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def changed(run, column, row, by):
    columns = {name: values.copy() for name, values in run.history.columns.items()}
    columns[column][row] += by
    return dataclasses.replace(run, moment=History(columns))


def test_the_same_numbers_come_out(run, temporary):
    rows = []
    found = repeat(run, watch=rows.append)
    assert (found.rows, found.steps, found.differences) == (8, 1600, [])
    assert found.numbers > 20 and len(rows) == 8
    assert not list(temporary.iterdir())


@pytest.mark.parametrize(("steps", "rows"), [(1, 1), (600, 3), (601, 4)])
def test_as_far_as_wanted(run, steps, rows):
    found = repeat(run, steps)
    assert (found.rows, found.steps, found.differences) == (rows, 200 * rows, [])


def test_the_first_row_that_differs_is_the_last(run, temporary):
    value = run.history.values("policy/kl")[2]
    altered = changed(run, "policy/kl", 2, by=np.spacing(value))  # its last bit
    found = repeat(altered)
    [(column, then, now)] = found.differences
    assert (found.rows, column) == (3, "policy/kl")
    assert then == np.nextafter(now, np.inf)
    assert not list(temporary.iterdir())


def test_what_has_not_begun_cannot_be_repeated(tmp_path):
    with pytest.raises(BadInput, match="has recorded nothing yet"):
        repeat(Run.create(tmp_path / "new", EXPERIMENT))


def test_times_are_nobodys(run):
    assert not repeat(changed(run, "time/seconds", 0, by=1), 200).differences


def test_what_is_recorded_no_more_differs(run):
    columns = dict(run.history.columns) | {"policy/mood": np.ones(8)}
    found = repeat(dataclasses.replace(run, moment=History(columns)))
    [(column, then, now)] = found.differences
    assert (column, then, found.rows) == ("policy/mood", 1.0, 1) and np.isnan(now)


def test_rows_of_an_archive_stand_for_stretches(run, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "ROWS", 6)
    archive = tmp_path / "some.runs.gz"
    write_archive([run.now()], archive)
    # What an archive names was not named by the user.
    packed = dataclasses.replace(find_run(archive / "toy"), experiment=EXPERIMENT)
    lengths = np.diff(packed.history.values("iteration"), prepend=-1)
    assert max(lengths) > 1
    found = repeat(packed)
    assert (found.rows, found.steps, found.differences) == (len(lengths), 1600, [])
    found = repeat(changed(packed, "reward/episode", 1, by=1e-3))
    assert (found.rows, [each.column for each in found.differences]) == (2, ["reward/episode"])


def test_one_run_of_an_archive_is_named(run, tmp_path):
    archive = tmp_path / "some.runs.gz"
    write_archive([run.now()], archive)
    assert find_run(archive / "toy").experiment == EXPERIMENT
    with pytest.raises(BadInput, match=r"archive of 1 run; name one of them: .*some.runs.gz/toy$"):
        find_run(archive)
    with pytest.raises(BadInput, match=r"holds no toi; did you mean toy\?"):
        find_run(archive / "toi")
    with pytest.raises(BadInput, match="holds no run"):
        find_run(tmp_path / "other")


def test_what_depends_on_a_length_it_once_had_cannot_be_repeated(run):
    ppo = run.experiment.replace(algo="ppo-lagrangian")
    longer = dataclasses.replace(run, experiment=ppo, extended=True)
    with pytest.raises(BadInput, match="went on beyond its first end, and ppo_rate falls"):
        repeat(longer)


class TestCommand:
    @pytest.fixture
    def folder(self, tmp_path, capsys):
        assert (
            shapo(capsys, "train", *TINY, "--steps", "300", "--out", str(tmp_path / "run"))[0] == 0
        )
        return tmp_path / "run"

    def test_says_that_it_is_the_same(self, folder, capsys):
        code, said, _ = shapo(capsys, "repeat", str(folder), "--env", "toy_env:Toy")
        rows = Run.open(folder).experiment.iterations
        assert code == 0 and f"run: the same in {rows} rows of" in said

    def test_or_what_is_not_and_what_may_be_to_blame(self, folder, capsys):
        """As if it had been made elsewhere, and come out otherwise there."""
        path = folder / "config.json"
        config = json.loads(path.read_text())
        config["experiment"]["seed"] += 1
        config["packages"]["jax"], config["arithmetic"] = "0.1.2", "znver9"
        path.write_text(json.dumps(config))
        words = ("repeat", str(folder), "--env", "toy_env:Toy", "--steps", "1")
        code, _, error = shapo(capsys, *words)
        assert code == 1 and error.startswith("shapo: run: row 1, at step ")
        assert "reward/episode was " in error and " more; it was begun with " in error
        assert "jax 0.1.2, arithmetic znver9, this is jax" in error
        del config["processor"]
        path.write_text(json.dumps(config))
        assert "its processor was not recorded, this is " in shapo(capsys, *words)[2]

    def test_code_is_imported_only_if_it_is_named(self, folder, capsys):
        code, _, error = shapo(capsys, "repeat", str(folder))
        assert code == 2 and "this run uses toy_env:Toy; add --env toy_env:Toy" in error
        code, _, error = shapo(capsys, "repeat", str(folder), "--env", "toy_env:Faulty")
        assert code == 2 and "env is toy_env:Toy in the run" in error
