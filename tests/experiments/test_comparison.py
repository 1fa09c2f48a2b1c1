"""`shapo compare`: its numbers against NumPy's, and that a table and a picture come whatever is missing."""

import json
import re

import numpy as np
import pytest
import scipy.stats
from synthetic import write_run

from shapo.cli import main as cli
from shapo.experiment import Experiment
from shapo.experiments import style
from shapo.experiments.comparison import _interval, _rounded
from shapo.experiments.statistics import Interval

ITERATIONS = 25
STEPS = 20_000 * np.arange(1, ITERATIONS + 1)
LATE = np.greater(STEPS, 0.9 * STEPS[-1])
ENDS = {"return": "reward/episode", "cost": "cost/episode", "cost p95": "cost/p95"}
WHOLE = {"cost rate": "cost/rate", "total cost": "cost/total"}


@pytest.mark.parametrize(
    "value, spread, text",
    [
        (7.325, 2.31, "7.3"), (0.0110874, 0.000199, "0.01109"), (110874.8, 1989.0, "110,875"),
        (-0.2, 0.0951, "-0.200"), (12.5, 0.0, "12.5"), (float("nan"), 1.0, "nan"),
    ],
)  # fmt: skip
def test_decimals_end_where_the_spread_has_two_digits(value, spread, text):
    assert _rounded(value, spread) == text


def test_an_interval_is_rounded_by_its_half_width():
    assert _interval(Interval(5.187, -2.175, 12.548)) == "+5.2 [-2.2, +12.5]"
    assert _interval(Interval(3.14159, float("nan"), float("nan"))) == "+3.142"


def finished_run(folder, experiment, columns):
    """A run that needs no more training, with these columns."""
    write_run(folder, experiment)
    table = {"iteration": np.arange(ITERATIONS), "steps": STEPS, **columns}
    rows = [table, *zip(*table.values(), strict=True)]
    text = "\n".join(",".join(map(str, row)) for row in rows) + "\n"
    (folder / "progress.csv").write_text(text)


def written(out, seeds, limits=(10.0,), spoil=lambda gradient, seed, columns: None):
    """Runs of random numbers; returns those of each gradient rule and column, [seeds, iterations]."""
    rng = np.random.default_rng(0)
    marks = [""] if len(limits) == 1 else [f"_{i + 1}" for i in range(len(limits))]
    kinds = ("episode", "rate", "total", "p95")
    names = ["reward/episode", *(f"cost/{kind}{mark}" for mark in marks for kind in kinds)]
    numbers = {"plain": [], "shapo": []}
    for gradient, runs in numbers.items():
        for seed in range(seeds):
            columns = {name: rng.gamma(3.0, size=ITERATIONS) for name in names}
            spoil(gradient, seed, columns)
            runs.append(columns)
            experiment = Experiment(
                gradient=gradient, seed=seed, steps=int(STEPS[-1]), cost_limit=limits
            )
            finished_run(out / f"{gradient}-seed{seed}", experiment, columns)
    return numbers


def compare(out, capsys, monkeypatch, *words):
    """The printed table, a list of cells by row, and the JSON object."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setitem(style.SETTINGS, "figure.dpi", 40)  # quick to draw
    cli.main(["compare", "--steps", str(STEPS[-1]), "--out", str(out), "--json", *words])
    text = capsys.readouterr().out
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.splitlines()]
    found = json.loads(next(line for line in text.splitlines() if line.startswith("{")))
    assert (out / "comparison.png").stat().st_size > 3_000
    return {row[0]: row[1:] for row in cells if row and row[0]}, found, text


def numbers_in(cell):
    return [float(word.replace(",", "")) for word in re.findall(r"[-+]?[\d,.]*\d", cell)]


def test_the_numbers_are_those_of_the_rows(tmp_path, capsys, monkeypatch):
    rows = written(tmp_path, seeds=4)
    table, found, _ = compare(tmp_path, capsys, monkeypatch, "--seeds", "4")
    assert set(table) == set(found) == {*ENDS, *WHOLE}
    for name, column in (ENDS | WHOLE).items():
        base, ours = (
            np.array([
                run[column][LATE].mean() if name in ENDS else run[column][-1] for run in rows[gradient]
            ])
            for gradient in ("plain", "shapo")
        )  # fmt: skip
        np.testing.assert_allclose(found[name]["vanilla"], base)
        np.testing.assert_allclose(found[name]["SHAPO"], ours)
        interval = scipy.stats.ttest_rel(ours, base).confidence_interval(0.95)
        difference = [np.mean(ours) - np.mean(base), *interval]
        np.testing.assert_allclose(list(found[name]["difference"].values()), difference)
        for cell, values in zip(table[name], (base, ours), strict=False):
            error = np.std(values, ddof=1) / np.sqrt(4)
            np.testing.assert_allclose(
                numbers_in(cell), [np.mean(values), error], atol=0.051 * error
            )
        reach = difference[2] - difference[0]
        np.testing.assert_allclose(numbers_in(table[name][2]), difference, atol=0.051 * reach)


def test_every_cost_has_its_rows(tmp_path, capsys, monkeypatch):
    rows = written(tmp_path, seeds=2, limits=(10.0, 5.0))
    options = ["--seeds", "2", "--cost-limit", "10", "5"]
    table, found, _ = compare(tmp_path, capsys, monkeypatch, *options)
    costs = [f"{name} {i}" for i in (1, 2) for name in ("cost", "cost rate", "total cost", "cost p95")]  # fmt: skip
    assert list(table) == list(found) == ["return", *costs]
    for i in (1, 2):
        last = [run[f"cost/rate_{i}"][-1] for run in rows["shapo"]]
        np.testing.assert_allclose(found[f"cost rate {i}"]["SHAPO"], last)


def test_runs_without_an_episode_are_said_to_be_missing(tmp_path, capsys, monkeypatch):
    def spoil(gradient, seed, columns):
        if (gradient, seed) == ("shapo", 1):
            columns["reward/episode"][:] = np.nan

    rows = written(tmp_path, seeds=3, spoil=spoil)
    table, found, text = compare(tmp_path, capsys, monkeypatch, "--seeds", "3")
    assert "SHAPO, seed 1: no return, for no episode ended" in text
    known = [rows["shapo"][seed]["reward/episode"][LATE].mean() for seed in (0, 2)]
    assert found["return"]["SHAPO"] == [pytest.approx(known[0]), None, pytest.approx(known[1])]
    pairs = [rows["plain"][seed]["reward/episode"][LATE].mean() for seed in (0, 2)]
    assert found["return"]["difference"]["estimate"] == pytest.approx(
        np.mean(known) - np.mean(pairs)
    )
    assert "(2 of 3 seeds)" in table["return"][1]


def test_one_seed_in_which_no_episode_ended(tmp_path, capsys, monkeypatch):
    def spoil(gradient, seed, columns):
        for name in ("reward/episode", "cost/episode", "cost/p95"):
            columns[name][:] = np.nan

    written(tmp_path, seeds=1, spoil=spoil)
    table, found, text = compare(tmp_path, capsys, monkeypatch, "--seeds", "1")
    assert table["return"] == ["–", "–", "–"] and found["return"]["difference"] is None
    assert "vanilla, seed 0: no return or cost or cost p95, for no episode ended" in text
    assert found["cost rate"]["difference"]["low"] is None, (
        "one pair says nothing, and JSON has no infinity"
    )
