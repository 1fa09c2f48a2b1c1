"""Sweeps: what is run, retried, given up and found again; on engines of paper and on real processes."""

import errno
import io
import os
import shutil
import signal
import subprocess
import sys
from collections import deque
from pathlib import Path

import hostile
import numpy as np
import pytest
from rich.console import Console
from synthetic import write_run
from test_resume import same_files
from test_rollout import wait_until_ended
from waiting import PATIENCE, wait_until

from shapo.cli import main as cli
from shapo.experiment import Experiment
from shapo.experiments import sweep
from shapo.experiments.statistics import rounded
from shapo.experiments.sweep import mirror
from shapo.experiments.sweep.engine import Advanced, Begun, Ended, Failure
from shapo.experiments.sweep.grid import read_grid
from shapo.experiments.sweep.modules import sources
from shapo.experiments.sweep.pace import Pace
from shapo.experiments.sweep.plan import Job, plan
from shapo.experiments.sweep.process import GRACE, RunProcess
from shapo.experiments.sweep.screen import LiveLines, PlainLines, wide_console
from shapo.experiments.sweep.sweep import Sweep
from shapo.rollout.crew import CLOSING
from shapo.runs.folder import Run
from shapo.runs.integrity import altered
from shapo.training import train

TESTS = Path(__file__).parent.parent
TINY = Experiment(
    env="toy_env:Toy", algo="trpo", cost_limit=(1.0,), steps=400, num_envs=2, steps_per_env=50, workers=1,
    hidden=(8,), critic_epochs=1, critic_minibatch=50,
)  # fmt: skip
GRID = """
base: {env: toy_env:Held, algo: trpo, cost_limit: 1, steps: 1000, num_envs: 2, steps_per_env: 50, hidden: [8]}
critic_epochs: 1
critic_minibatch: 50
seeds: 2
"""


def row(iteration, speed=100.0):
    return {
        "iteration": iteration, "steps": 100 * (iteration + 1), "reward/episode": 1.0, "cost/episode": 0.5,
        "time/steps_per_second": speed,
    }  # fmt: skip


class Paper:
    """An engine with one place, on which every start of a run ends as the script says."""

    def __init__(self, script):
        self.script = {name: deque(ends) for name, ends in script.items()}
        self.running, self.started = [], []

    def has_room(self, job):
        return not self.running

    def start(self, job):
        self.running.append(job.name)
        self.started.append((job.name, job.done))

    def events(self, seconds):
        name = self.running.pop()
        end = self.script[name].popleft()
        return [Begun(name), Advanced(name, row(0)), Ended(name, end)]

    def close(self):
        pass


def on_paper(tmp_path, script, shown=PlainLines):
    jobs = [Job(TINY.replace(seed=i), tmp_path / name, 0) for i, name in enumerate(script)]
    engine = Paper(script)
    for job in jobs:
        job.folder.mkdir(parents=True, exist_ok=True)
    with shown(wide_console()) as screen:
        return Sweep(jobs, engine, screen).work(), [name for name, _ in engine.started], engine


def test_a_failed_run_is_retried_once_and_stops_nobody(tmp_path, capsys):
    twice = [Failure("the floor is gone"), Failure("the floor is gone again")]
    outcome, order, engine = on_paper(
        tmp_path, {"a": twice, "b": [None], "c": [Failure("hiccup"), None]}
    )
    assert order == ["a", "b", "c", "a", "c"]
    assert engine.started[3] == ("a", 1), "the second attempt knows what is on disk"
    assert [job.name for job in outcome.finished] == ["b", "c"]
    assert [(job.name, why.reason) for job, why in outcome.failed] == [
        ("a", "the floor is gone again")
    ]
    assert (tmp_path / "a" / "failure.txt").read_text() == "the floor is gone again\n"
    assert not (tmp_path / "c" / "failure.txt").exists()
    assert "a is tried again: the floor is gone" in capsys.readouterr().out


def test_a_folder_in_which_nothing_can_be_written_stops_nobody(tmp_path, monkeypatch):
    def read_only(path, *_, **__):
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(Path, "unlink", read_only)
    monkeypatch.setattr("shapo.experiments.sweep.sweep.write_atomically", read_only)
    outcome, _, _ = on_paper(tmp_path, {"a": [Failure("it is read-only")] * 2, "b": [None]})
    assert [job.name for job in outcome.finished] == ["b"]
    assert [(job.name, why.reason) for job, why in outcome.failed] == [("a", "it is read-only")]


def test_a_run_that_somebody_else_trains_has_not_failed(tmp_path):
    in_use = Failure("is being trained by another process", "in use")
    outcome, order, _ = on_paper(tmp_path, {"a": [in_use, in_use], "b": [in_use, None]})
    assert order == ["a", "b", "a", "b"]
    assert [job.name for job, _ in outcome.failed] == ["a"]
    assert not (tmp_path / "a" / "failure.txt").exists()


def test_bad_input_is_not_tried_again_and_a_lost_machine_is_no_fault(tmp_path):
    lost = Failure("node died", "lost")
    outcome, order, _ = on_paper(
        tmp_path,
        {"a": [Failure("no such thing", "bad input")], "b": [lost] * 5 + [Failure("x"), None]},
    )
    assert order.count("a") == 1 and order.count("b") == 7
    assert [job.name for job in outcome.finished] == ["b"]


def test_a_terminal_is_drawn_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    on_paper(tmp_path, {"[red]a": [None], "b": [Failure("x")] * 2}, LiveLines)
    text = capsys.readouterr().out
    assert "[red]a is finished" in text and "b failed: x" in text


def test_a_narrow_terminal_shows_which_run_it_is(tmp_path):
    name = "SafetyPointCircle1-v0_trpo-pid_shapo_radius=0.0004_s11"
    job = Job(TINY, tmp_path / name, 3)
    lines = LiveLines(Console(file=io.StringIO(), width=80, force_terminal=True))
    lines.begun(job)
    lines.advanced(job, row(3, speed=30_668.0))
    lines.show({"running": 1}, 67.0)
    with (console := Console(file=io.StringIO(), width=80)).capture() as drawn:
        console.print(lines._live.get_renderable())
    shown = drawn.get().splitlines()
    assert "".join(line.split("  ")[0] for line in shown[:-1]) == name
    assert "return" in shown[0] and shown[0].endswith("30,668 steps/s")


def test_the_first_iteration_compiles_and_foretells_nothing(tmp_path):
    told = []

    class Told:
        begun = advanced = ended = lambda *_, **__: None

        def show(self, counts, seconds_left):
            told.append(seconds_left)

    class Slowly(Paper):
        def events(self, seconds):
            return self.script[self.running[0]].popleft()

    job = Job(TINY, tmp_path / "a", 0)
    first, second = Advanced("a", row(0, speed=1.0)), Advanced("a", row(1, speed=50.0))
    Sweep([job], Slowly({"a": [[Begun("a"), first], [second], [Ended("a", None)]]}), Told()).work()
    assert told == [None, 4.0, 0.0], "two iterations of 100 steps are left after the second"


def test_time_left_counts_each_environment_at_its_own_speed(tmp_path):
    def lacking(env, iterations):
        steps = 100 * (iterations + 3)
        return Job(TINY.replace(env=env, steps=steps), tmp_path / env, done=3)

    fast, slow, unseen = lacking("fast", 8), lacking("slow", 4), lacking("unseen", 5)
    pace = Pace()
    assert pace.seconds_left([fast], 1) is None
    pace.note(fast, row(0, speed=400.0))
    pace.note(slow, row(0, speed=100.0))
    # 100 steps an iteration: 8 of the fast one take 2 s, 4 of the slow one 4 s, 5 of one nobody has seen 2 s at 250.
    assert pace.seconds_left([fast, slow, unseen], 1) == pytest.approx(8.0)
    assert pace.seconds_left([fast, slow, unseen], 2) == pytest.approx(4.0)
    assert pace.seconds_left([lacking("fast", 4), lacking("slow", 20)], 2) == pytest.approx(20.0)
    assert pace.seconds_left([], 0) == 0
    pace.note(fast, row(1, speed=200.0))  # of which three tenths count: 340 steps per second
    assert pace.seconds_left([lacking("fast", 34)], 1) == pytest.approx(10.0)


def test_a_run_is_found_by_what_it_is(tmp_path):
    whole, half, new = (TINY.replace(seed=seed, workers=0) for seed in range(3))
    write_run(tmp_path / "whatever", whole.replace(workers=8))
    write_run(tmp_path / "toy_env-Toy_trpo_plain_s2", half, iterations=2)
    jobs = plan([whole, half, new, new.replace(workers=1)], tmp_path).jobs
    assert [(job.name, job.done, job.finished) for job in jobs[:2]] == [
        ("whatever", 4, True),
        ("toy_env-Toy_trpo_plain_s2", 2, False),
    ]
    assert jobs[0].experiment.workers == 8, "a run goes on as it was begun"
    assert len(jobs) == 3 and jobs[2].experiment == new.replace(workers=1)
    assert jobs[2].name.startswith("toy_env-Toy_trpo_plain_s2_"), "its own name was taken"


def test_what_does_nothing_does_not_make_another_run(tmp_path):
    write_run(tmp_path / "there", TINY.replace(pessimism=0.5, pid_kp=3.0))
    assert [job.name for job in plan([TINY, TINY.replace(ppo_rate=1.0)], tmp_path).jobs] == [
        "there"
    ]


def test_a_start_that_failed_leaves_its_place(tmp_path):
    (name,) = (job.name for job in plan([TINY], tmp_path).jobs)
    (tmp_path / name).mkdir()
    (tmp_path / name / "failure.txt").write_text("no luck\n")
    assert [job.name for job in plan([TINY], tmp_path).jobs] == [name]


def test_of_two_folders_with_one_run_the_further_one_goes_on(tmp_path):
    write_run(tmp_path / "a", TINY)
    write_run(tmp_path / "b", TINY, iterations=2)
    (job,) = plan([TINY], tmp_path).jobs
    assert job.name == "a" and job.finished


def test_rows_without_their_checkpoint_do_not_count(tmp_path):
    folder = write_run(tmp_path / "run", TINY)
    (folder / "checkpoints").mkdir()
    (folder / "checkpoints" / "000002.safetensors").touch()
    (job,) = plan([TINY], tmp_path).jobs
    assert job.done == 3


def test_folders_that_cannot_be_used_are_named_and_left_alone(tmp_path):
    write_run(tmp_path / "old", TINY, version="0.0.7")
    write_run(tmp_path / "cut", TINY)
    config = tmp_path / "cut" / "config.json"
    config.write_text(config.read_text()[:100])
    planned = plan([TINY], tmp_path)
    assert [job.done for job in planned.jobs] == [0]
    cut, old = planned.notes
    assert "config.json" in cut and "written by shapo 0.0.7" in old


def test_unknown_names_are_refused_before_anything_starts(tmp_path):
    with pytest.raises(ValueError, match="did you mean SafetyPointGoal1-v0"):
        sweep.run([TINY.replace(env="SafetyPointGaol1-v0")], tmp_path)
    with pytest.raises(ValueError, match="use local or ray"):
        sweep.run([TINY], tmp_path, engine="slurm")
    with pytest.raises(ValueError, match="at least one run"):
        sweep.run([TINY], tmp_path, parallel=0)


def test_a_mirror_follows_and_never_has_a_checkpoint_without_its_rows(tmp_path):
    there, here = tmp_path / "there", tmp_path / "here"
    (there / "checkpoints").mkdir(parents=True)
    (there / "config.json").write_text("{}")
    source = mirror.Source(there)
    for k in range(4):
        with open(there / "progress.csv", "a") as file:
            file.write(f"row {k}\n")
        (there / "checkpoints" / f"{k:06d}.safetensors").write_text(f"needs {k + 1} rows")
        (there / "checkpoints" / f"{k - 2:06d}.safetensors").unlink(missing_ok=True)
        changes = source.changes()
        for broken_off in range(len(changes.parts) + 1):
            partly = tmp_path / f"partly-{k}-{broken_off}"
            if here.exists():
                shutil.copytree(here, partly)
            mirror.apply(partly, changes._replace(parts=changes.parts[:broken_off]))
            newest = max((partly / "checkpoints").glob("*"), default=None)
            rows = (partly / "progress.csv").read_text().count("\n") if newest else 0
            assert newest is None or f"needs {rows} rows" >= newest.read_text()
        mirror.apply(here, changes)
        assert _contents(here) == _contents(there)
    assert source.changes().parts == []
    mirror.apply(here, mirror.Changes([], []))
    assert _contents(here) == _contents(there), "a machine that did nothing takes nothing away"
    # After a loss the other machine is cut back to its checkpoint, and tells everything anew.
    (there / "progress.csv").write_text("row 0\nrow one\n")
    mirror.apply(here, mirror.needed_to_continue(there))
    assert _contents(here) == _contents(there)


def test_a_mirror_never_has_a_manifest_without_its_files(tmp_path):
    there = hostile.write_run(tmp_path / "there")
    changes = mirror.needed_to_continue(there)
    for broken_off in range(len(changes.parts) + 1):
        partly = tmp_path / f"partly-{broken_off}"
        mirror.apply(partly, changes._replace(parts=changes.parts[:broken_off]))
        assert altered(partly) == []
    assert (partly / "manifest.json").exists()


def test_a_damaged_run_is_not_called_finished(tmp_path):
    """With its rows cut in the middle, and with one number changed."""
    seeds = [hostile.EXPERIMENT.replace(seed=seed) for seed in range(3)]
    cut, changed, _ = (
        hostile.write_run(tmp_path / f"run{each.seed}", each) / "progress.csv" for each in seeds
    )
    cut.write_bytes(cut.read_bytes()[:-40])
    changed.write_bytes(changed.read_bytes().replace(b"2.0", b"1.0", 1))
    outcome = sweep.run(seeds, tmp_path)
    assert [job.folder.name for job in outcome.finished] == ["run2"]
    for job, failure in outcome.failed:
        assert failure.kind == "bad input" and str(job.folder / "progress.csv") in failure.reason
    assert cut.stat().st_size > 0


def _contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}


def test_own_modules_travel_and_installed_ones_do_not(tmp_path, monkeypatch):
    (tmp_path / "my_rules.py").write_text("class Rule: pass")
    monkeypatch.syspath_prepend(tmp_path)

    def travel(**names):
        return {part.path: part.content for part in sources(TINY.replace(**names)).parts}

    toy = {"toy_env.py": (TESTS / "toy_env.py").read_bytes()}
    assert travel() == travel(env="toy_env:Toy(horizon=3)", cost="toy_env:Slow") == toy
    assert travel(gradient="my_rules:Rule(x=1)").keys() == {"toy_env.py", "my_rules.py"}
    assert travel(env="Ant-v4") == travel(env="no_such_module:X") == {}
    assert travel(env="Ant-v4", gradient="numpy:zeros", algo="json:loads") == {}
    package = travel(env="shapo.envs:Saute")
    assert {"shapo/__init__.py", "shapo/envs/saute.py"} <= package.keys()


@pytest.mark.slow
def test_real_processes_train_and_fail_as_one_would_alone(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "broken_floor.py").write_text(
        "from toy_env import Toy\n\ndef make(num_envs):\n    return Toy(num_envs, fault='raise')\n"
    )
    broken = TINY.replace(env="broken_floor:make")
    outcome = sweep.run([broken, TINY], tmp_path / "out", parallel=2)
    (good,), ((bad, why),) = outcome.finished, outcome.failed
    assert "ZeroDivisionError: the floor is gone" in why.reason and "\n" not in why.reason
    assert (bad.folder / "failure.txt").read_text().strip() == why.reason
    same_files(good.folder, train(TINY, tmp_path / "alone").folder)


def test_interrupted_and_continued_is_as_never_stopped(tmp_path, hold):
    (tmp_path / "grid.yaml").write_text(GRID)
    out = tmp_path / "out"
    command = [
        sys.executable, "-m", "shapo", "sweep", str(tmp_path / "grid.yaml"), "--out", str(out), "--parallel", "2",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=TESTS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    wait_until(lambda: len(list(out.glob("*/policy.safetensors"))) == 2)
    with pytest.raises(ValueError, match="another sweep is running"):
        sweep.run([TINY], out)
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and "the same command goes on" in text
    assert "stopping: the runs close their files" in text
    assert not _trainings_in(out), "nothing is left running"
    begun = [len((folder / "progress.csv").read_text().split()) - 1 for folder in out.glob("*_s?")]
    assert len(begun) == 2 and all(0 < rows < 10 for rows in begun)

    hold.unlink()
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True)
    assert done.returncode == 0 and "2 begun" in done.stdout, done.stdout + done.stderr
    assert "2 of 2 runs finished" in done.stdout
    alone = train(TINY.replace(env="toy_env:Held", steps=1000, seed=1), tmp_path / "alone")
    same_files(out / "toy_env-Held_trpo_plain_s1", alone.folder)
    assert all((each / "config.json").exists() for each in out.iterdir()), "it writes runs alone"


def test_runs_end_with_a_sweep_that_is_killed(tmp_path, hold):
    (tmp_path / "grid.yaml").write_text(GRID.replace("seeds: 2", "seeds: 1"))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "shapo", "sweep", str(tmp_path / "grid.yaml")]
    process = subprocess.Popen([*command, "--out", str(out)], cwd=TESTS, stdout=subprocess.DEVNULL)
    wait_until(lambda: list(out.glob("*/workers.log")))
    process.kill()
    process.wait()
    wait_until(lambda: not _trainings_in(out))


@pytest.mark.slow  # it waits until stuck environments are killed
def test_a_run_that_is_stopped_has_time_to_kill_environments_that_will_not_close(tmp_path):
    """Whatever they have started themselves, too, which ends with nobody else."""
    notes = tmp_path / "notes"
    notes.mkdir()
    env = f"toy_env:Owner(notes={str(notes)!r}, stubborn=True)"
    process = RunProcess(TINY.replace(env=env, steps=1_000_000), tmp_path / "run", sys.path)
    assert process.receive()
    process.close()
    assert process._process.returncode == 130
    (server,) = (int(path.stem) for path in notes.glob("*.begun"))
    wait_until_ended(server)


def test_a_run_is_stopped_later_than_its_environments():
    assert GRACE >= CLOSING + 5, "some seconds for all else"


@pytest.mark.parametrize(
    "words, hint",
    [
        (["nowhere.yaml"], "No such file"),
        (["bad.yaml"], "did you mean seeds?"),
        (["lost.yaml"], "lost.yaml: unknown environment 'nosuch'"),
        (["good.yaml", "--engine", "rya"], "did you mean ray?"),
        (["good.yaml", "--address", "x:1"], "add --engine ray"),
        (["good.yaml", "--parallel", "0"], "at least one"),
        (["good.yaml", "--engine", "ray", "--parallel", "2"], "for this machine"),
    ],
)
def test_bad_input_is_one_line_and_code_2(tmp_path, monkeypatch, capsys, words, hint):
    monkeypatch.chdir(tmp_path)
    Path("bad.yaml").write_text("sedes: 3")
    Path("good.yaml").write_text(GRID)
    Path("lost.yaml").write_text("env: nosuch")
    with pytest.raises(SystemExit) as exit:
        cli.main(["sweep", *words])
    out, error = capsys.readouterr()
    assert exit.value.code == 2 and not out
    assert hint in error and error.count("\n") == 1


def test_a_dry_run_shows_every_run_and_makes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("grid.yaml").write_text("algo: [cpo, crpo]\nseeds: 30\n")
    cli.main(["sweep", "grid.yaml", "--dry-run"])
    text = capsys.readouterr().out
    assert (
        "60 runs, each a folder in runs/grid/" in text
        and "SafetyPointGoal1-v0_cpo_plain_s0 " in text
    )
    assert "20 more" in text and "SafetyPointGoal1-v0_crpo_plain_s29" in text
    assert os.listdir() == ["grid.yaml"]


def test_it_ends_with_what_each_configuration_reached(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("grid.yaml").write_text("gradient: [plain, shapo]\nsteps: 2e5\nseeds: 2\n")
    runs = [
        write_run(Path("out") / str(i), each) for i, each in enumerate(read_grid(Path("grid.yaml")))
    ]
    cli.main(["sweep", "grid.yaml", "--out", "out"])
    lines = capsys.readouterr().out.splitlines()
    (plain,), (shapo,) = (
        [line for line in lines if f"trpo-pid · {rule} " in line] for rule in ("plain", "shapo")
    )
    returns = [Run.open(folder).history.final("reward/episode") for folder in runs[:2]]
    error = abs(returns[0] - returns[1]) / 2
    assert f" {rounded(float(np.mean(returns)), error)} ± {rounded(error, error)} " in plain
    assert [line.strip() for line in lines].count("SafetyPointGoal1-v0") == 1
    assert plain.split()[-1] == shapo.split()[-1] == "2" and " 10 " in plain
    assert lines[-1] == "runs=out"


def _trainings_in(out):
    """Processes that have a file below `out` open."""
    found = set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if str(out) in os.readlink(link) and link.parent.parent.name != str(os.getpid()):
                found.add(link.parent.parent.name)
        except OSError:
            continue
    return found
