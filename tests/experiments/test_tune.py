"""Tuning: the paper's grid, and which of its points is taken."""

import math

import pytest
import scipy.stats
from synthetic import write_run

from shapo.cli import main as cli
from shapo.cli.commands import tune
from shapo.experiment import Experiment
from shapo.experiments import sweep
from shapo.experiments.sweep.sweep import RunsFailed
from shapo.experiments.tune import RHO_CRITIC, grid, weigh
from shapo.runs.reading import read_runs

CHOICES = {"env": "SafetyPointGoal1-v0", "algo": "trpo-pid", "steps": 60_000}


def test_the_grid_is_the_papers_around_a_frozen_base():
    wanted = grid(CHOICES, points=5, seeds=2)
    base = Experiment(**CHOICES)
    with_shapo = Experiment(**CHOICES, gradient="shapo")
    assert wanted[:2] == [base, base.replace(seed=1)]
    assert {(each.pessimism, each.rho_critic) for each in wanted[2:]} == {
        (radius, rho) for radius in (1e-5, 3.16228e-5, 1e-4, 3.16228e-4, 1e-3) for rho in RHO_CRITIC
    }
    assert len(wanted) == 2 * (1 + 15)
    rest = {each.replace(seed=0, pessimism=0.0, rho_critic=0.0) for each in wanted[2:]}
    assert rest == {with_shapo.replace(pessimism=0.0, rho_critic=0.0)}
    (only,) = {each.pessimism for each in grid(CHOICES, 1, 1)[1:]}
    assert only == pytest.approx(1e-4)
    with pytest.raises(ValueError, match="at least one of each"):
        grid(CHOICES, 5, 0)


def measured(tmp_path, scores):
    """A grid of one seed, whose first runs (plain first) have the given constant returns and cost rates."""
    wanted = grid(CHOICES, points=3, seeds=1)
    for number, ((reward, rate), experiment) in enumerate(zip(scores, wanted, strict=False)):
        folder = tmp_path / f"run{number}"
        folder.mkdir(parents=True)
        write_run(folder / "as_made", experiment)
        table = folder / "as_made" / "progress.csv"
        header, *rows = [line.split(",") for line in table.read_text().splitlines()]
        for values in rows:
            values[header.index("reward/episode")] = str(reward)
            values[header.index("cost/rate")] = str(rate)
        table.write_text("\n".join(",".join(line) for line in (header, *rows)) + "\n")
    return wanted, read_runs(tmp_path).runs


def test_the_knee_of_the_front_is_taken(tmp_path):
    # Corner (return 0, cost 10). Areas alone: (10-9)*10, (10-2)*8, (10-1)*2, and two that are beaten by the second.
    plain, scores = (0, 10), [(10, 9), (8, 2), (2, 1), (7, 3), (8, 2.5)]
    wanted, runs = measured(tmp_path, [plain, *scores])
    found = weigh(wanted, runs)
    assert [(each.reward, each.cost_rate) for each in found.front] == [(2, 1), (8, 2), (10, 9)]
    assert (found.choice.reward, found.choice.cost_rate) == (8, 2)
    assert found.choice.experiment == wanted[2].replace(workers=0)
    # Together: 2 from cost 1 to 2, 8 from 2 to 9, 10 from 9 to 10.
    assert found.share == pytest.approx(64 / (2 + 56 + 10))
    assert len(found.candidates) == 5 and found.base.cost_rate == 10
    assert math.isnan(found.base.reward_error), "one seed says nothing about the spread"


def test_points_that_are_all_alike_still_give_a_choice(tmp_path):
    wanted, runs = measured(tmp_path, [(5, 5)] * 4)
    found = weigh(wanted, runs)
    assert found.choice.experiment == wanted[1].replace(workers=0) and found.share == 1
    with pytest.raises(ValueError, match="more steps"):
        weigh(wanted, runs[:1])


def test_a_seed_counts_once(tmp_path):
    wanted, runs = measured(tmp_path, [(0, 10), (5, 5), (6, 4)])
    write_run(tmp_path / "twice", wanted[1], seed=99)
    found = weigh(wanted, read_runs(tmp_path).runs)
    assert [each.seeds for each in found.candidates] == [1, 1] and len(runs) == 3
    assert found.candidates[0].reward == 5, "the one found first, by name"
    assert [out.run.folder.name for out in found.left_out] == ["twice"]


def test_a_point_is_known_by_its_finished_runs(tmp_path):
    """Their means and standard errors; a point whose only run goes on is none."""
    wanted = grid(CHOICES, points=1, seeds=3)
    for number, experiment in enumerate(wanted[:6]):
        write_run(tmp_path / f"whole{number}", experiment, skill=1 + number, seed=number)
    write_run(tmp_path / "going-on", wanted[6], iterations=2, skill=50)
    runs = read_runs(tmp_path).runs
    found = weigh(wanted, runs)
    assert len(found.candidates) == 1
    for each, experiment in ((found.base, wanted[0]), (found.candidates[0], wanted[3])):
        own = [
            r.history for r in runs if r.experiment.essence("seed") == experiment.essence("seed")
        ]
        earned = [history.final("reward/episode") for history in own]
        rates = [history.last("cost/rate") for history in own]
        assert each[1:] == pytest.approx((
            3, sum(earned) / 3, scipy.stats.sem(earned), sum(rates) / 3, scipy.stats.sem(rates),
        ))  # fmt: skip


@pytest.mark.parametrize(
    ("plain", "no_worse"),
    [
        ((8, 3), ["return"]),
        ((7, 2), ["cost rate"]),
        ((8, 2), ["return", "cost rate"]),
        ((7, 3), []),
    ],
)
def test_who_is_level_is_no_worse(tmp_path, plain, no_worse):
    found = weigh(*measured(tmp_path, [plain, (8, 2)]))
    assert found.no_worse_without == no_worse


def told(tmp_path, capsys, plain):
    """What the command says of a grid whose plain run has this return and cost rate, and the others k and k."""
    wanted, _ = measured(tmp_path / "made", [plain, *[(k, k) for k in range(9)]])
    out = tmp_path / "out"
    out.mkdir(parents=True)
    for path in (tmp_path / "made").glob("*/as_made"):
        path.rename(out / path.parent.name)
    cli.main([
        "tune", "--env", wanted[0].env, "--algo", "trpo-pid", "--steps", "60000", "--points", "3", "--seeds", "1",
        "--out", str(out),
    ])  # fmt: skip
    return wanted, capsys.readouterr().out


def test_the_command_says_what_to_take_and_why(tmp_path, capsys):
    wanted, text = told(tmp_path, capsys, plain=(1, 9))
    # Corner (0, 9): k * (9 - k) is largest at 4 (and 5, which costs more): pessimism 1e-4, the second radius.
    assert "take --pessimism 0.0001 --rho-critic 0.01: of the 9 points" in text
    command = f"shapo train --env {wanted[0].env} --algo trpo-pid --steps 60000 --gradient shapo "
    assert (
        f"\n{command}--pessimism 0.0001 --rho-critic 0.01\n" in text
    )  # the very one that was chosen
    assert " 1e-5 " in text and "1e-05" not in text, "as in the names of its runs"
    assert "without SHAPO" in text and text.count("front") == 8 and "chosen" in text


def test_in_a_narrow_terminal_no_heading_is_cut_and_the_command_is_one_line(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    lines = told(tmp_path, capsys, plain=(1, 9))[1].splitlines()
    command = next(line for line in lines if line.startswith("shapo train"))
    assert command.endswith("--pessimism 0.0001 --rho-critic 0.01") and len(command) > 60
    table = lines.index(
        next(line for line in lines if line.split()[:2] == ["pessimism", "rho-critic"])
    )
    assert max(len(line) for line in lines[table:] if line != command) <= 60


@pytest.mark.parametrize(
    "plain, said",
    [
        ((1, 9), "\nwithout SHAPO both are worse (return 1, cost rate 9)\n"),
        ((1, 0.5), "\nbut without SHAPO the cost rate is no worse (return 1, cost rate 0.5)\n"),
        ((9, 9), "\nbut without SHAPO the return is no worse (return 9, cost rate 9)\n"),
        ((9, 0.5), "\nbut without SHAPO neither is worse (return 9, cost rate 0.5): nothing here"),
    ],
)
def test_the_choice_is_compared_with_the_algorithm_without_shapo(tmp_path, capsys, plain, said):
    assert said in told(tmp_path, capsys, plain)[1]


def test_whether_shapo_helps_is_open_without_a_plain_run(tmp_path):
    wanted, runs = measured(tmp_path, [(5, 5), (6, 4)])
    found = weigh(wanted, [run for run in runs if run.experiment.gradient == "shapo"])
    assert found.base is None and "is open: no run without it" in tune._reason(found)


def test_a_schedule_without_pessimism_is_refused():
    with pytest.raises(ValueError, match=r"schedule is 'alpha', where pessimism.* does nothing"):
        grid(CHOICES | {"schedule": "alpha"}, 5, 1)
    assert len(grid(CHOICES | {"schedule": "decay"}, 5, 1)) == 16


@pytest.mark.parametrize("words", [["--seeds", "0"], ["--points", "0"]])
def test_nothing_to_search_is_refused(capsys, words):
    with pytest.raises(SystemExit) as exit:
        cli.main(["tune", *words])
    assert exit.value.code == 2 and "at least one of each" in capsys.readouterr().err


def test_failed_runs_are_the_reason_why_there_is_nothing_to_choose(tmp_path, monkeypatch, capsys):
    failed = sweep.Outcome([], [("job", "why")])
    monkeypatch.setattr(sweep, "run", lambda *_: failed)
    words = ["tune", "--algo", "trpo-pid", "--steps", "60000", "--points", "3", "--seeds", "1"]
    for some in (False, True):
        if some:
            measured(tmp_path, [(1, 9), (2, 2), (3, 3)])
        with pytest.raises(RunsFailed, match="1 run failed; the same command tries again"):
            cli.dispatch([*words, "--out", str(tmp_path)])
        assert ("chosen" in capsys.readouterr().out) == some
