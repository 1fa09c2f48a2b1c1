"""`shapo compare`: its numbers against NumPy's, the names of arms, and that a table comes whatever is missing."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from rich.console import Console
from synthetic import write_run

from shapo.cli import main as cli
from shapo.experiment import Experiment
from shapo.experiments import style
from shapo.experiments.comparison import picture
from shapo.experiments.comparison.arms import arms_of, names, read_arm
from shapo.experiments.comparison.printed import _decimals, _interval, explanation, printed
from shapo.experiments.statistics import Interval, rounded
from shapo.runs.archives import write_archive
from shapo.runs.reading import read_runs

ITERATIONS = 25
STEPS = 20_000 * np.arange(1, ITERATIONS + 1)
LATE = np.greater(STEPS, 0.9 * STEPS[-1])
ENDS = {"return": "reward/episode", "cost": "cost/episode", "cost p95": "cost/p95"}
WHOLE = {"cost rate": "cost/rate", "total cost": "cost/total"}


@pytest.mark.parametrize(
    "value, spread, text",
    [
        (7.325, 2.31, "7.3"), (0.0110874, 0.000199, "0.01109"), (110874.8, 1989.0, "110,875"),
        (-0.2, 0.0951, "-0.200"), (12.5, 0.0, "12.5"), (12.5, 1e-15, "12.5"), (float("nan"), 1.0, "nan"),
    ],
)  # fmt: skip
def test_decimals_end_where_the_spread_has_two_digits(value, spread, text):
    assert rounded(value, spread) == text


def test_an_interval_is_rounded_by_its_half_width():
    assert _interval(Interval(5.187, -2.175, 12.548), 3) == "+5.2 [-2.2, +12.5]"
    assert _interval(Interval(3.14159, float("nan"), float("nan")), 3) == "+3.142"


@pytest.mark.parametrize(
    "values, decimals",
    [
        ([53.17, 44.2], 2), ([204.0, 23.29, 0.0], 2), ([0.38905, 0.04884], 5), ([389_051, 48_842], 0),
        ([1e-30], 8), ([0.0, float("nan")], 0),
    ],
)  # fmt: skip
def test_single_runs_are_shown_to_the_same_decimals(values, decimals):
    assert _decimals(np.array(values)) == decimals


def finished_run(folder, experiment, columns):
    """A run that needs no more training, with these columns."""
    write_run(folder, experiment)
    table = {"iteration": np.arange(ITERATIONS), "steps": STEPS, **columns}
    rows = [table, *zip(*table.values(), strict=True)]
    text = "\n".join(",".join(map(str, row)) for row in rows) + "\n"
    (folder / "progress.csv").write_text(text)


PAIR = {"plain": {"gradient": "plain"}, "shapo": {"gradient": "shapo"}}
THREE = {
    "trpo": {"algo": "trpo"},
    "trpo-pid": {"algo": "trpo-pid"},
    "trpo-pid · shapo": {"algo": "trpo-pid", "gradient": "shapo"},
}
ARMS = [word for text in THREE.values() for word in ("--arm", " ".join("=".join(x) for x in text.items()))]  # fmt: skip


def written(out, seeds, limits=(10.0,), spoil=lambda arm, seed, columns: None, arms=PAIR):
    """Runs of random numbers; returns those of each arm and column, [seeds, iterations]."""
    rng = np.random.default_rng(0)
    marks = [""] if len(limits) == 1 else [f"_{i + 1}" for i in range(len(limits))]
    kinds = ("episode", "rate", "total", "p95")
    columns = ["reward/episode", *(f"cost/{kind}{mark}" for mark in marks for kind in kinds)]
    numbers = {name: [] for name in arms}
    for number, (name, choices) in enumerate(arms.items()):
        for seed in range(seeds):
            made = {column: rng.gamma(3.0, size=ITERATIONS) for column in columns}
            spoil(name, seed, made)
            numbers[name].append(made)
            common = {"steps": int(STEPS[-1]), "cost_limit": limits, "seed": seed}
            finished_run(out / f"{number}-seed{seed}", Experiment(**common | choices), made)
    return numbers


def compare(out, capsys, monkeypatch, *words):
    """The printed table, a list of cells by row, the JSON object's arms by name, and all that was printed."""
    monkeypatch.setitem(style.SETTINGS, "figure.dpi", 40)  # quick to draw
    monkeypatch.setattr(style, "FORMATS", ("png",))
    cli.main(["compare", "--out", str(out), "--json", *map(str, words)])
    text = capsys.readouterr().out
    found = json.loads(next(line for line in text.splitlines() if line.startswith("{")))
    assert (out / "comparison.png").stat().st_size > 3_000
    lines = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines() if "  " in line]
    return {row[0]: row[1:] for row in lines}, {arm["name"]: arm for arm in found["arms"]}, text


def trained(*words):
    """Options of a comparison whose runs are all there."""
    return ["--steps", str(STEPS[-1]), *words]


def numbers_in(cell):
    return [float(word.replace(",", "")) for word in re.findall(r"[-+]?[\d,.]*\d", cell)]


def by_hand(name, runs):
    """What a quantity comes to in each run, from its rows."""
    column = (ENDS | WHOLE)[name]
    return np.array([run[column][LATE].mean() if name in ENDS else run[column][-1] for run in runs])


@pytest.mark.parametrize(
    "arms, words", [(PAIR, []), (THREE, ARMS)], ids=["plain against shapo", "three arms"]
)
def test_the_numbers_are_those_of_the_rows(tmp_path, capsys, monkeypatch, arms, words):
    rows = written(tmp_path, seeds=4, arms=arms)
    table, found, _ = compare(tmp_path, capsys, monkeypatch, *trained("--seeds", 4, *words))
    headings = ["return", "cost", "cost rate", "total cost", "cost p95"]
    first = next(iter(arms))
    assert list(found) == list(arms) and "difference" not in found[first]
    for column, quantity in enumerate(headings):
        for arm in arms:
            against = arm.removesuffix(" · shapo") if arm.endswith(" · shapo") else first
            base = by_hand(quantity, rows[against])
            ours = by_hand(quantity, rows[arm])
            np.testing.assert_allclose(found[arm]["values"][quantity], ours)
            error = np.std(ours, ddof=1) / np.sqrt(4)
            np.testing.assert_allclose(
                numbers_in(table[arm][column]), [np.mean(ours), error], atol=0.051 * error
            )
            if arm != first:
                interval = scipy.stats.ttest_rel(ours, base).confidence_interval(0.95)
                difference = [np.mean(ours) - np.mean(base), *interval]
                assert found[arm]["base"] == against
                made = found[arm]["difference"][quantity]
                np.testing.assert_allclose(list(made.values()), difference)
                shown = numbers_in(table[f"{arm} − {against}"][column])
                reach = difference[2] - difference[0]
                np.testing.assert_allclose(shown, difference, atol=0.051 * reach)


def test_the_picture_ends_at_the_numbers_of_the_table(tmp_path):
    rows = written(tmp_path, seeds=3)
    with style.house_style():
        figure = picture.draw(arms_of(read_runs(tmp_path).runs))
        figure.draw_without_rendering()
    returns, costs, plane = figure.axes
    limit, *curves = costs.lines
    assert limit.get_ydata() == pytest.approx([10.0, 10.0])
    for axes_lines, quantity in ((returns.lines, "return"), (curves, "cost")):
        for line, runs in zip(axes_lines, rows.values(), strict=True):
            assert line.get_ydata()[-1] == pytest.approx(by_hand(quantity, runs).mean())
    for band, runs in zip(returns.collections, rows.values(), strict=True):
        ends = by_hand("return", runs)
        reach = np.mean(ends) + np.multiply([-1, 1], scipy.stats.sem(ends))
        path = band.get_paths()[0].vertices
        last = path[path[:, 0] == STEPS[-1] / 1e6, 1]
        np.testing.assert_allclose([last.min(), last.max()], reach)
    for points, runs in zip(plane.lines, rows.values(), strict=True):
        np.testing.assert_allclose(points.get_xdata(), by_hand("cost rate", runs))
        np.testing.assert_allclose(points.get_ydata(), by_hand("return", runs))
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["plain", "shapo", "cost limit 10"]
    assert "running means over a tenth" in legend.get_title().get_text()
    assert not any(legend.get_window_extent().overlaps(each.bbox) for each in figure.axes)
    picture.plt.close(figure)


def test_each_cost_has_its_row_of_the_picture(tmp_path):
    rows = written(tmp_path, seeds=2, limits=(10.0, 5.0))
    figure = picture.draw(arms_of(read_runs(tmp_path).runs))
    for i, limit in ((1, 10.0), (2, 5.0)):
        _, costs, plane = figure.axes[3 * i - 3 : 3 * i]
        line, *curves = costs.lines
        assert line.get_ydata() == pytest.approx([limit, limit])
        for curve, points, runs in zip(curves, plane.lines, rows.values(), strict=True):
            late = [run[f"cost/episode_{i}"][LATE].mean() for run in runs]
            assert curve.get_ydata()[-1] == pytest.approx(np.mean(late))
            np.testing.assert_allclose(
                points.get_xdata(), [run[f"cost/rate_{i}"][-1] for run in runs]
            )
    picture.plt.close(figure)


def test_the_picture_of_an_archive_ends_at_its_numbers_too(tmp_path):
    """Of 250 iterations its last tenth has five rows, of five iterations each."""
    long = Experiment(steps=250 * 20_000)
    found = [read_runs(write_run(tmp_path / "run", long)).runs[0]]
    write_archive(found, tmp_path / "all.runs.gz")
    for runs in (found, read_runs(tmp_path / "all.runs.gz").runs):
        figure = picture.draw(arms_of(runs))
        (earned,), (_, paid) = (axes.lines for axes in figure.axes[:2])
        for line, column in ((earned, "reward/episode"), (paid, "cost/episode")):
            expected = found[0].history.values(column)[225:].mean()
            assert line.get_ydata()[-1] == pytest.approx(expected, rel=1e-6)
        picture.plt.close(figure)


def test_runs_that_are_there(tmp_path, capsys, monkeypatch):
    """From folders, in the order they are given, and from an archive: the same numbers, and nothing is trained."""
    rows = written(tmp_path / "b", seeds=2, arms={"shapo": PAIR["shapo"]})
    rows |= written(tmp_path / "a", seeds=3, arms={"plain": PAIR["plain"]})
    out = tmp_path / "out"
    _, found, text = compare(out, capsys, monkeypatch, tmp_path / "b", tmp_path / "a")
    assert list(found) == ["shapo", "plain"]
    assert found["plain"]["seeds"] == [0, 1, 2] and found["shapo"]["seeds"] == [0, 1]
    lead = by_hand("return", rows["plain"])[:2] - by_hand("return", rows["shapo"])
    assert found["plain"]["difference"]["return"]["estimate"] == pytest.approx(lead.mean())
    assert "2–3 seeds" in text and "iteration=" not in text

    write_archive(read_runs(tmp_path / "a", tmp_path / "b").runs, tmp_path / "both.runs.gz")
    archived = compare(out, capsys, monkeypatch, tmp_path / "both.runs.gz")[1]
    assert archived["plain"]["values"]["return"] == pytest.approx(
        found["plain"]["values"]["return"]
    )


def test_no_comparison_of_runs_replaces_another(tmp_path, monkeypatch):
    monkeypatch.setitem(style.SETTINGS, "figure.dpi", 40)  # quick to draw
    monkeypatch.setattr(style, "FORMATS", ("png",))
    for name in ("a", "b"):
        written(tmp_path / name / "runs", seeds=1)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for words in (["../a/runs"], ["../b/runs"], ["../a/runs", *["../b/runs"] * 20]):
        cli.main(["compare", *words])
        cli.main(["compare", *words])
    names = sorted(path.name for path in Path().iterdir())
    assert names[1:] == ["comparison-a-runs.png", "comparison-b-runs.png"]
    assert names[0].startswith("comparison-a-runs-b-runs-b-runs") and len(names[0]) < 150
    (tmp_path / "a").rename(tmp_path / ("迷" * 80))
    cli.main(["compare", f"../{'迷' * 80}/runs"])  # of three bytes each


def test_shorter_runs_are_left_out_and_said(tmp_path, capsys, monkeypatch):
    experiment = Experiment(steps=200_000)
    write_run(tmp_path / "whole", experiment)
    write_run(tmp_path / "half", experiment.replace(seed=1), iterations=5)
    _, found, text = compare(tmp_path / "out", capsys, monkeypatch, tmp_path)
    assert found["trpo-pid · plain"]["seeds"] == [0]
    assert "left out: trpo-pid · plain, half: 100k steps, others have 200k" in text


def test_every_cost_has_its_columns(tmp_path, capsys, monkeypatch):
    rows = written(tmp_path, seeds=2, limits=(10.0, 5.0))
    words = trained("--seeds", "2", "--cost-limit", "10", "5")
    _, found, _ = compare(tmp_path, capsys, monkeypatch, *words)
    costs = [f"{name} {i}" for i in (1, 2) for name in ("cost", "cost rate", "total cost", "cost p95")]  # fmt: skip
    assert list(found["shapo"]["values"]) == ["return", *costs]
    for i in (1, 2):
        last = [run[f"cost/rate_{i}"][-1] for run in rows["shapo"]]
        np.testing.assert_allclose(found["shapo"]["values"][f"cost rate {i}"], last)


def test_runs_without_an_episode_are_said_to_be_missing(tmp_path, capsys, monkeypatch):
    def spoil(arm, seed, columns):
        if (arm, seed) == ("shapo", 1):
            columns["reward/episode"][:] = np.nan

    rows = written(tmp_path, seeds=3, spoil=spoil)
    table, found, text = compare(tmp_path, capsys, monkeypatch, *trained("--seeds", "3"))
    assert "shapo, seed 1: no return, for no episode ended" in text
    known = [by_hand("return", rows["shapo"])[seed] for seed in (0, 2)]
    assert found["shapo"]["values"]["return"] == pytest.approx([known[0], None, known[1]])
    pairs = [by_hand("return", rows["plain"])[seed] for seed in (0, 2)]
    assert found["shapo"]["difference"]["return"]["estimate"] == pytest.approx(
        np.mean(known) - np.mean(pairs)
    )
    assert "(2 of 3 seeds)" in table["shapo"][0]


def test_one_seed_in_which_no_episode_ended(tmp_path, capsys, monkeypatch):
    def spoil(arm, seed, columns):
        for name in ("reward/episode", "cost/episode", "cost/p95"):
            columns[name][:] = np.nan

    written(tmp_path, seeds=1, spoil=spoil)
    table, found, text = compare(tmp_path, capsys, monkeypatch, *trained("--seeds", "1"))
    assert table["plain"][0] == table["shapo"][0] == table["shapo − plain"][0] == "–"
    assert found["shapo"]["difference"]["return"] is None
    assert "plain, seed 0: no return or cost or cost p95, for no episode ended" in text
    assert "±" not in text and "chance" in text
    assert found["shapo"]["difference"]["cost rate"]["low"] is None, (
        "one pair says nothing, and JSON has no infinity"
    )


@pytest.mark.parametrize(
    "text, choices",
    [
        ("gradient=shapo pessimism=1e-3", {"gradient": "shapo", "pessimism": 1e-3}),
        ("  hidden=32,16  cost-limit=5 ", {"hidden": (32, 16), "cost_limit": (5.0,)}),
        (
            "gradient=mine:Rule(sizes=(1, 2), name='a') steps=2e6",
            {"gradient": "mine:Rule(sizes=(1, 2), name='a')", "steps": 2_000_000},
        ),
    ],
)
def test_an_arm_is_read(text, choices):
    assert read_arm(text) == choices


@pytest.mark.parametrize(
    "arms, said",
    [
        (["gradient"], "'gradient' must be key=value"),
        (["gradeint=sam"], "unknown key 'gradeint'; did you mean gradient?"),
        (["pessimism=big"], "'big' is no number"),
        (["seed=1"], "--seeds says how many"),
        (["algo=trpo algo=ppo"], "algo is said twice"),
        ([" "], "--arm is empty"),
        (["algo=trpo", "algo=trpo pessimism=1"], "arms 1 and 2 are the same experiment"),
        (["env=Ant-v4", "env=Hopper-v4"], "2 environments (Ant-v4, Hopper-v4)"),
        (["cost-limit=1", "cost-limit=1,2"], "different numbers of costs"),
        ([f"discount=0.{n}" for n in range(1, 10)], "9 arms are too many to tell apart"),
    ],
)
def test_bad_arms_are_one_line(tmp_path, capsys, arms, said):
    words = [word for arm in arms for word in ("--arm", arm)]
    with pytest.raises(SystemExit) as exit:
        cli.main(["compare", "--out", str(tmp_path), *words])
    assert exit.value.code == 2 and said in capsys.readouterr().err


def test_runs_and_options_of_training_do_not_go_together(tmp_path, capsys):
    write_run(tmp_path / "run", Experiment(steps=20_000))
    with pytest.raises(SystemExit) as exit:
        cli.main(["compare", str(tmp_path), "--algo", "trpo"])
    assert exit.value.code == 2 and "--algo is for training" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arms, called",
    [
        (PAIR.values(), ["plain", "shapo"]),
        (THREE.values(), ["trpo", "trpo-pid", "trpo-pid · shapo"]),
        (
            [{"gradient": "plain"}, {"gradient": "shapo", "pessimism": 1e-3}],
            ["plain", "shapo · pessimism 0.001"],
        ),
        (
            [{"gradient": "shapo", "pessimism": x} for x in (1e-4, 1e-3)],
            ["pessimism 0.0001", "pessimism 0.001"],
        ),
        # PPO's critics have another rate by publication, which need not be said.
        ([{"algo": "trpo"}, {"algo": "ppo"}], ["trpo", "ppo"]),
        (
            [{"steps": 1_000_000}, {"steps": 2_000_000, "hidden": (32, 16)}],
            ["1M steps · hidden 64x64", "2M steps · hidden 32x16"],
        ),
        ([{"critic_gradient": rule} for rule in ("plain", "sam")], ["plain critics", "sam critics"]),
        ([{"algo": "cpo"}], ["cpo · plain"]),
    ],
)  # fmt: skip
def test_an_arm_is_called_by_what_differs(arms, called):
    assert names([Experiment(**choices).essence("seed") for choices in arms]) == called


@pytest.mark.parametrize("arms", [PAIR, THREE], ids=["two arms", "three arms"])
@pytest.mark.parametrize("limits", [(10.0,), (10.0, 5.0)], ids=["one cost", "two costs"])
@pytest.mark.parametrize("width", [44, 60, 80, 100, 160])
def test_no_cell_is_broken_however_narrow_the_terminal(tmp_path, width, arms, limits):
    written(tmp_path, seeds=3, limits=limits, arms=arms)
    found = arms_of(read_runs(tmp_path).runs)
    shown = {}
    for at in (width, 1000):
        console = Console(width=at, file=io.StringIO())
        for table in printed(found, at):
            console.print(table)
        shown[at] = console.file.getvalue()
    number = r"[-+]?[\d,.]*\d"
    cells = re.findall(rf"{number} ± {number}|{number} \[{number}, {number}\]", shown[1000])
    assert len(cells) == (2 * len(arms) - 1) * (1 + 4 * len(limits))
    assert all(cell in shown[width] for cell in cells)
    assert max(map(len, shown[width].splitlines())) <= width
    words = [word for arm in found for word in (*arm.label.split(), "return", "p95")]
    assert all(word in shown[width] for word in words)


def test_what_an_interval_that_holds_0_means(tmp_path):
    written(tmp_path, seeds=2)
    said = explanation(arms_of(read_runs(tmp_path).runs))
    assert "one that holds 0 does not show that there is a difference" in said
