"""A run's files: whole or not believed, cut back exactly, never overwritten."""

import errno
import json
import os
import shutil

import hostile
import numpy as np
import pytest

from shapo.cli import main as cli
from shapo.experiment import Experiment
from shapo.runs import integrity
from shapo.runs.checkpoints import Checkpoint, keep_last, newest_first, save_checkpoint
from shapo.runs.files import Damaged
from shapo.runs.folder import Run
from shapo.runs.history import read_history
from shapo.runs.holding import RunInUse
from shapo.runs.ledger import Ledger
from shapo.runs.tables import Extent, Table, read_columns
from shapo.types import Batch, Episodes
from shapo.words import BadInput

ARRAYS = {
    "scalar": np.float64(np.pi),
    "bits": np.array([True, False]),
    "transposed": np.arange(6, dtype=np.float32).reshape(2, 3).T,
    "empty": np.zeros((0, 3)),
    "words": np.array([2**32 - 1], np.uint32),
}


def newest_checkpoint(folder):
    """The last one that is whole, and what is said of those after it."""
    problems = []
    for found in newest_first(folder):
        if isinstance(found, Checkpoint):
            return found, problems
        problems.append(str(found))
    return None, problems


class TestCheckpoints:
    def save(self, folder, *iterations):
        for iteration in iterations:
            save_checkpoint(folder, Checkpoint(iteration, ARRAYS, {"seconds": str(iteration)}))

    def test_come_back_bit_for_bit(self, tmp_path):
        self.save(tmp_path, 7)
        checkpoint, problems = newest_checkpoint(tmp_path)
        assert checkpoint.iteration == 7 and checkpoint.facts == {"seconds": "7"} and not problems
        assert set(checkpoint.arrays) == set(ARRAYS)
        for name, value in ARRAYS.items():
            found = checkpoint.arrays[name]
            assert found.dtype == np.asarray(value).dtype
            np.testing.assert_array_equal(found, value)

    def test_the_last_two_are_kept(self, tmp_path):
        self.save(tmp_path, 8, 9, 10, 999_999, 1_000_000)
        assert sorted(os.listdir(tmp_path)) == ["1000000.safetensors", "999999.safetensors"]
        assert newest_checkpoint(tmp_path)[0].iteration == 1_000_000

    @pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
    def test_a_truncated_one_is_passed_over(self, tmp_path, share):
        self.save(tmp_path, 1, 2)
        path = tmp_path / "000002.safetensors"
        path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
        checkpoint, (problem,) = newest_checkpoint(tmp_path)
        assert checkpoint.iteration == 1
        assert str(path) in problem and "damaged" in problem

    def test_any_flipped_bit_is_noticed(self, tmp_path):
        self.save(tmp_path, 1)
        path = tmp_path / "000001.safetensors"
        whole = path.read_bytes()
        believed = []
        for place in range(8, len(whole)):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            checkpoint, _ = newest_checkpoint(tmp_path)
            if checkpoint is not None:
                believed.append(whole[place : place + 1])
        assert not set(believed) - {b" "}  # only the padding after the header carries no meaning

    def test_none_is_none(self, tmp_path):
        assert newest_checkpoint(tmp_path) == (None, [])

    def test_what_else_lies_there_is_left_alone(self, tmp_path):
        self.save(tmp_path, 1, 2)
        strays = [
            tmp_path / name for name in ("000009 copy.safetensors", "9.safetensors", "notes.txt")
        ]
        for stray in strays:
            stray.touch()
        (tmp_path / "000007.safetensors").mkdir()
        self.save(tmp_path, 3)
        assert newest_checkpoint(tmp_path)[0].iteration == 3
        assert all(stray.exists() for stray in strays)

    def test_one_under_another_name_is_not_believed(self, tmp_path):
        self.save(tmp_path, 1)
        shutil.copy(tmp_path / "000001.safetensors", tmp_path / "000002.safetensors")
        checkpoint, (problem,) = newest_checkpoint(tmp_path)
        assert checkpoint.iteration == 1 and "another iteration's" in problem

    def test_a_new_one_is_never_dropped_for_later_ones(self, tmp_path):
        """As when a damaged run goes on from an old checkpoint that was brought back."""
        self.save(tmp_path, 8, 9)
        self.save(tmp_path, 2)
        assert os.listdir(tmp_path) == ["000002.safetensors"]

    def test_more_than_two_are_tidied(self, tmp_path):
        self.save(tmp_path, 2, 3)
        shutil.copy(tmp_path / "000003.safetensors", tmp_path / "000001.safetensors")
        keep_last(tmp_path, 3)
        assert sorted(os.listdir(tmp_path)) == ["000002.safetensors", "000003.safetensors"]


class TestTable:
    rows = tuple({"a": i, "b/c": i / 3} for i in range(4))

    def test_is_cut_back_to_a_size_it_had(self, tmp_path):
        path = tmp_path / "t.csv"
        table = Table(path)
        table.append(self.rows[:2])
        known = table.sync()
        assert known.size == path.stat().st_size
        table.append(self.rows[2:3])
        table.close()
        with open(path, "a") as file:
            file.write("half a li")
        table = Table(path, known)
        table.append(self.rows[2:])
        table.sync()
        table.close()
        assert path.read_text().splitlines()[0] == "a,b/c"
        assert read_columns(path) == {"a": [0, 1, 2, 3], "b/c": [i / 3 for i in range(4)]}

    def test_numbers_survive_exactly(self, tmp_path):
        table = Table(tmp_path / "t.csv")
        table.append([{"x": 0.1 + 0.2, "y": float("nan")}])
        table.close()
        columns = read_columns(tmp_path / "t.csv")
        assert columns["x"] == [0.1 + 0.2] and np.isnan(columns["y"][0])

    def test_refuses_other_columns(self, tmp_path):
        table = Table(tmp_path / "t.csv")
        table.append([{"a": 1}])
        with pytest.raises(ValueError, match=r"columns changed \(b\); each row must"):
            table.append([{"a": 1, "b": 2}])

    @pytest.mark.parametrize("name", ["a, b", 'a "b"', "a\nb", "a\u2028b", "a\fb", "b "])
    def test_refuses_a_name_that_would_make_two_columns_of_one(self, tmp_path, name):
        table = Table(tmp_path / "t.csv")
        with pytest.raises(ValueError, match="a column cannot be called"):
            table.append([{"x": 1, name: 2}])
        table.close()
        (tmp_path / "t.csv").write_text("a,b,c\n1,2\n")
        with pytest.raises(ValueError, match="3 columns have names and 2 have numbers"):
            read_columns(tmp_path / "t.csv")

    def test_refuses_a_file_shorter_than_its_checkpoint(self, tmp_path):
        (tmp_path / "t.csv").write_text("a\n1\n")
        with pytest.raises(ValueError, match="has 4 bytes"):
            Table(tmp_path / "t.csv", Extent(10))

    def test_refuses_a_file_that_began_otherwise(self, tmp_path):
        path = tmp_path / "t.csv"
        table = Table(path)
        table.append(self.rows)
        known = table.sync()
        table.close()
        altered = path.read_bytes().replace(b"0.3333", b"0.3332", 1)
        path.write_bytes(altered)
        with pytest.raises(Damaged, match=r"t\.csv is not what was written"):
            Table(path, known)
        assert path.read_bytes() == altered
        assert Extent.parse(str(known)) == known

    @pytest.mark.parametrize(
        "content", [b"a,b\n1,x\n", b"a,b\n1,2\n1\n", b"\xff\xfe\n", b"a,b\n1\n", b"a,a\n1,2\n"]
    )
    def test_what_is_no_table_is_named(self, tmp_path, content):
        (tmp_path / "t.csv").write_bytes(content)
        with pytest.raises(Damaged, match=r"t\.csv cannot be read"):
            read_history(tmp_path / "t.csv")


class TestRun:
    experiment = Experiment(env="Ant-v4", cost_limit=(1.0, 2.0), hidden=(8,))

    def test_config_is_complete(self, tmp_path):
        Run.create(tmp_path / "r", self.experiment)
        config = json.loads((tmp_path / "r" / "config.json").read_text())
        assert config["experiment"]["damping_per_dim"] == 0.1
        assert {"jax", "mujoco", "numpy"} <= set(config["packages"]) and config["version"]
        found = Run.open(tmp_path / "r")
        assert found.experiment == self.experiment and not found.finished

    def test_an_existing_run_is_never_overwritten(self, tmp_path):
        Run.create(tmp_path, self.experiment)
        with pytest.raises(ValueError, match=r"already holds a run.*--resume"):
            Run.create(tmp_path, self.experiment)

    def test_a_foreign_folder_is_left_alone(self, tmp_path):
        (tmp_path / "thesis.tex").touch()
        with pytest.raises(ValueError, match="not an empty folder"):
            Run.create(tmp_path, self.experiment)
        assert os.listdir(tmp_path) == ["thesis.tex"]

    def test_a_crash_while_it_is_created_leaves_a_folder_that_can_be_used(self, tmp_path):
        """The config is written under another name first: until it has its own there is no run."""
        (tmp_path / ".config.json.tmp").write_text('{"versi')
        with pytest.raises(BadInput, match="holds no run"):
            Run.open(tmp_path)
        Run.create(tmp_path, self.experiment)
        assert os.listdir(tmp_path) == ["config.json"]

    def test_a_run_that_never_began_is_taken_off_the_disk(self, tmp_path):
        run = Run.create(tmp_path / "r", self.experiment)
        for name in ("tensorboard", "wandb"):
            (run.folder / name).mkdir()
            (run.folder / name / "file").touch()
        run.log.touch()
        run.discard()
        assert os.listdir(tmp_path) == []

    def test_a_changed_config_is_shown(self, tmp_path):
        run = Run.create(tmp_path, self.experiment)
        with pytest.raises(
            ValueError, match=r"seed is 0 in the run, 4 was asked for; radius_per_dim is 0.01"
        ):
            run.require_same(self.experiment.replace(seed=4, radius_per_dim=0.02))

    def test_a_mistyped_folder_is_guessed(self, tmp_path):
        Run.create(tmp_path / "ant-cpo", self.experiment)
        with pytest.raises(ValueError, match=r"did you mean .*ant-cpo"):
            Run.open(tmp_path / "ant-cop")

    @pytest.mark.parametrize(
        "text", ["", "{", "[]", '{"experiment": {"enw": 1}}', '{"experiment": 3}']
    )
    def test_a_broken_config_is_one_line(self, tmp_path, text):
        (tmp_path / "config.json").write_text(text)
        with pytest.raises(ValueError, match=r"config\.json is not a run's config"):
            Run.open(tmp_path)

    def test_two_processes_do_not_share_a_run(self, tmp_path):
        run = Run.create(tmp_path, self.experiment)
        with (
            run.locked(),
            pytest.raises(RunInUse, match="another process"),
            Run.open(tmp_path).locked(),
        ):
            pass
        with run.locked():
            pass


class TestLedger:
    def batch(self, cost):
        zeros = np.zeros(cost.shape[:2], np.float32)
        none = zeros.astype(bool)
        return Batch(zeros[..., None], zeros[..., None], zeros[..., None], zeros, cost, none, none)

    def episodes(self, costs, terminated):
        k = len(costs)
        returns, numbers = np.arange(k, dtype=float), np.arange(k)
        return Episodes(
            numbers % 2, numbers, returns, np.array(costs), numbers + 5, np.array(terminated)
        )

    def test_follows_the_definitions(self):
        ledger = Ledger(Experiment(num_envs=2, steps_per_env=10, cost_limit=(3.0,)))
        cost = np.zeros((10, 2, 1), np.float32)
        cost[:4] = 1
        assert ledger.episode_cost() == [3.0]  # unknown: as if exactly met
        assert ledger.episode_length() == np.inf
        none = self.episodes(np.zeros((0, 1)), np.zeros(0, bool))
        ledger.add(self.batch(cost), none)
        first = ledger.row(0)
        assert (
            first["cost/total"] == 8
            and first["cost/rate"] == 8 / 20
            and np.isnan(first["cost/episode"])
        )
        ledger.add(self.batch(0 * cost), self.episodes([[1.0], [2.0], [6.0]], [True, False, True]))
        row = ledger.row(1)
        assert row["steps"] == 40 and row["episodes"] == 3
        assert (
            row["cost/episode"] == 3 and row["reward/episode"] == 1 and row["episode/length"] == 6
        )
        assert np.isnan(first["termination/rate"])
        assert row["termination/total"] == 2 and row["termination/rate"] == 2 / 3  # of the episodes
        assert row["cost/p80"] == pytest.approx(2 + 0.6 * 4)  # between the 2nd and the 3rd of three
        assert ledger.episode_cost() == [3.0]
        ledger.add(self.batch(0 * cost), none)
        assert ledger.row(2)["cost/episode"] == 3  # the last that is known

    def test_percentiles_look_back_on_fifty_episodes(self):
        ledger = Ledger(Experiment(num_envs=2, steps_per_env=1))
        for costs in ([[1000.0]] * 10, [[float(cost)] for cost in range(50)]):
            episodes = self.episodes(costs, [False] * len(costs))
            ledger.add(self.batch(np.zeros((1, 2, 1))), episodes)
        row = ledger.row(0)
        assert row["cost/p80"] == np.percentile(range(50), 80)
        assert row["cost/p95"] == np.percentile(range(50), 95)

    def test_looks_back_as_far_as_told(self):
        ledger = Ledger(Experiment(num_envs=2, steps_per_env=1, episode_window=3))
        for costs in ([[0.0], [0.0]], [[3.0], [9.0]]):
            ledger.add(self.batch(np.zeros((1, 2, 1))), self.episodes(costs, [False, False]))
        assert ledger.episode_cost() == [4.0]

    @pytest.mark.parametrize(("window", "news"), [(0, [1, 1, 0, 1]), (3, [1, 1, 0, 1 / 3])])
    def test_tells_which_share_of_what_the_constraint_sees_is_new(self, window, news):
        ledger = Ledger(Experiment(num_envs=2, steps_per_env=1, episode_window=window))
        assert ledger.told() == ([10.0], float("inf"), 0.0)
        for ended, share in zip((2, 5, 0, 1), news, strict=True):
            episodes = self.episodes([[1.0]] * ended, [False] * ended)
            ledger.add(self.batch(np.zeros((1, 2, 1))), episodes)
            assert ledger.told() == ([1.0], ledger.episode_length(), share)

    @pytest.mark.parametrize("window", [0, 3, 60])
    def test_cost_and_length_are_of_the_same_episodes(self, window):
        """The last so many, or those of the latest batch that had any; the tails are of fifty whatever is seen."""
        ledger = Ledger(Experiment(num_envs=2, steps_per_env=1, episode_window=window))
        rng, added = np.random.default_rng(0), []
        for count in (40, 30, 2, 0):
            added.append(self.episodes(rng.gamma(2.0, size=(count, 1)), [False] * count))
            ledger.add(self.batch(np.zeros((1, 2, 1))), added[-1])
        costs, lengths = (
            np.concatenate([getattr(each, name) for each in added]).ravel()
            for name in ("costs", "length")
        )
        assert ledger.episode_cost() == pytest.approx(costs[-(window or 2) :].mean())
        assert ledger.episode_length() == pytest.approx(lengths[-(window or 2) :].mean())
        assert ledger.row(0)["cost/p95"] == pytest.approx(np.percentile(costs[-50:], 95))

    def test_an_episode_ends_at_a_step_of_the_whole_training(self):
        """Steps of all environments: after the 10 x 2 of the first batch, its own and those beside it."""
        ledger = Ledger(Experiment(num_envs=2, steps_per_env=10))
        for iteration in range(2):
            episodes = self.episodes([[0.0]] * 4, [False] * 4)
            ledger.add(self.batch(np.zeros((10, 2, 1))), episodes)
            steps = [row["steps"] for row in ledger.episode_rows(iteration, episodes)]
            assert steps == [20 * iteration + 2 * done for done in (1, 2, 3, 4)]

    def test_numbers_several_costs(self):
        ledger = Ledger(Experiment(num_envs=2, steps_per_env=1, cost_limit=(1.0, 2.0)))
        episodes = self.episodes([[1.0, 5.0], [3.0, 5.0]], [False, False])
        ledger.add(self.batch(np.ones((1, 2, 2))), episodes)
        row = ledger.row(0)
        assert (row["cost/episode_1"], row["cost/episode_2"], row["cost/limit_2"]) == (2, 5, 2)
        assert ledger.episode_rows(0, episodes)[1] == {
            "iteration": 0, "steps": 4, "env": 1, "return": 1.0, "cost_1": 3.0, "cost_2": 5.0, "length": 6,
            "terminated": 0,
        }  # fmt: skip

    def test_state_round_trip(self):
        ledger, other = (Ledger(Experiment(num_envs=2, steps_per_env=1)) for _ in range(2))
        ledger.add(self.batch(np.ones((1, 2, 1))), self.episodes([[1.0], [3.0]], [False, True]))
        other.set_state(ledger.get_state())
        for each in (ledger, other):
            each.add(self.batch(np.ones((1, 2, 1))), self.episodes([[7.0]], [True]))
        assert other.row(1) == ledger.row(1)


def test_a_run_is_shown_on_one_line(tmp_path):
    run = Run.create(tmp_path / "run", Experiment("Ant-v4", "cpo", "shapo", seed=3))
    assert repr(run) == f"Run({tmp_path / 'run'}: Ant-v4, cpo, shapo, seed 3)"


def test_a_run_whose_config_is_lost_is_not_sound(tmp_path, capsys):
    for name in ("a", "b"):
        hostile.write_run(tmp_path / name, iterations=4)
    cli.dispatch(["runs", str(tmp_path), "--check"])
    assert "2 runs sound" in capsys.readouterr().out
    (tmp_path / "b" / "config.json").unlink()
    with pytest.raises(Exception, match="1 of 2 runs damaged"):
        cli.dispatch(["runs", str(tmp_path), "--check"])
    assert f"{tmp_path}/b/config.json is missing" in capsys.readouterr().out


def test_a_file_that_may_not_be_read_is_named_and_the_others_are_checked(
    tmp_path, capsys, monkeypatch
):
    for name in ("a", "b"):
        hostile.write_run(tmp_path / name)
    digest = integrity._digest

    def denied(path):  # as `open` would, if we were not root
        if path == tmp_path / "a" / "progress.csv":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return digest(path)

    monkeypatch.setattr(integrity, "_digest", denied)
    (tmp_path / "b" / "progress.csv").write_text("something else")
    with pytest.raises(Exception, match="2 of 2 runs damaged"):
        cli.dispatch(["runs", str(tmp_path), "--check"])
    said = capsys.readouterr().out
    assert f"Permission denied: '{tmp_path}/a/progress.csv'" in said
    assert f"{tmp_path}/b/progress.csv is not what was written" in said


def test_a_run_is_listed_once_however_often_it_is_named(tmp_path, capsys):
    hostile.write_run(tmp_path / "a")
    cli.dispatch(["runs", str(tmp_path), str(tmp_path / "a"), "--check"])
    _, line, said = capsys.readouterr().out.splitlines()
    assert line.split()[0] == str(tmp_path / "a") and said == "1 run sound"


def test_the_list_shows_each_cost_beside_its_own_limit(tmp_path, capsys):
    run = Run.create(tmp_path / "several", Experiment(cost_limit=(10.0, 4.0)))
    (run.folder / "progress.csv").write_text(
        "iteration,steps,reward/episode,cost/episode_1,cost/episode_2\n0,100,1.0,17.5,6.5\n"
    )
    hostile.write_run(tmp_path / "single")
    with pytest.raises(BadInput, match="nothing: no run in there"):
        (tmp_path / "nothing").mkdir()
        cli.dispatch(["runs", str(tmp_path / "nothing")])
    cli.dispatch(["runs", str(tmp_path)])
    several, single = capsys.readouterr().out.splitlines()[1:]
    assert "17.50 of 10, 6.50 of 4" in several and "  2.00 of 10  " in single
