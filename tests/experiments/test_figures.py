"""The paper's figures: what they need, what they say, and that they show the runs' numbers."""

import contextlib
import io
import sys
import types
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.stats
from matplotlib.patches import Ellipse
from synthetic import write_run

from shapo.cli import main as cli
from shapo.experiments import figures, style
from shapo.experiments.figures import drawing, runtime
from shapo.experiments.figures.figure import Arm, Result, gather, need, provenance
from shapo.runs import reading as table

STEPS = 200_000
ANALYTIC = [name for name, figure in figures.FIGURES.items() if not figure.arms()]
MEASURED = [name for name in figures.FIGURES if name not in ANALYTIC]
PLAIN, SHAPO = figures.FIGURES["runtime"].arms()

pytestmark = pytest.mark.xdist_group("figures")  # one process draws them for all


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two short seeds of everything that any figure needs."""
    folder = tmp_path_factory.mktemp("runs")
    needed = {arm.experiment for name in MEASURED for arm in figures.FIGURES[name].arms()}
    for number, experiment in enumerate(sorted(needed, key=repr)):
        for seed in range(2):
            short = experiment.replace(steps=STEPS, seed=seed)
            skill = 0.8 + 0.04 * (number % 10)
            write_run(folder / f"{number}-{seed}", short, skill=skill, seed=1000 * seed + number)
    return folder


@pytest.fixture(scope="module")
def drawn(runs, tmp_path_factory):
    """All measured figures, and what the command said about each."""
    folder, said = tmp_path_factory.mktemp("pictures"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        patch.setattr(style, "FORMATS", ("svg",))
        cli.dispatch(["figure", *MEASURED, "--runs", str(runs), "--out", str(folder)])
    return folder, said.getvalue()


@pytest.fixture
def axes():
    yield plt.figure().add_subplot()
    plt.close("all")


def svg_text(folder, name):
    return (folder / f"{name}.svg").read_text()


def test_every_item_of_the_paper_has_one_figure():
    expected = Counter(f"Figure {number}" for number in range(1, 18)) + Counter(["Table 1"])
    assert Counter(figure.item for figure in figures.FIGURES.values()) == expected


@pytest.mark.parametrize("name", ANALYTIC)
def test_analytic_figures_need_nothing(name, tmp_path, monkeypatch):
    arguments = [name, "--runs", str(tmp_path / "none"), "--out", str(tmp_path)]
    cli.dispatch(["figure", *arguments])
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(first) == {f"{name}.{format}" for format in ("png", "svg", "pdf")}
    assert first[f"{name}.png"].startswith(b"\x89PNG") and first[f"{name}.pdf"].startswith(b"%PDF")
    monkeypatch.setattr(style, "FORMATS", ("svg",))
    cli.dispatch(["figure", *arguments])
    assert (tmp_path / f"{name}.svg").read_bytes() == first[f"{name}.svg"]


@pytest.mark.parametrize("name", MEASURED)
def test_figures_are_drawn_from_the_runs_there_are(name, drawn):
    folder, said = drawn
    text = svg_text(folder, name)
    assert "2 of 5 seeds · 200k of" in text
    assert "not run" not in text
    lacking = 5 * len(figures.FIGURES[name].arms())
    about_it = said.split(f"{name} ")[1].split("drawn:")[0]
    assert f"needs {lacking} runs: 0 complete, {lacking} missing" in about_it


def test_a_figure_with_gaps_says_so(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(style, "FORMATS", ("svg",))
    figure = figures.FIGURES["fisher-euclidean"]
    found = table.read_runs(runs).runs
    only_ant = [run for run in found if run.experiment.env == "Ant-v4"]
    figures.making.save(figure, gather(figure.arms(), only_ant), tmp_path)
    text = svg_text(tmp_path, "fisher-euclidean")
    assert text.count("not run yet") == 3
    assert "9 of 12 configurations not run" in text


def test_points_are_means_and_ellipses_standard_errors(axes, runs):
    [result] = gather([SHAPO], table.read_runs(runs).runs)
    drawing.scatter(axes, [result], "cost/rate")
    costs = [run.last("cost/rate") for run in result.runs]
    rewards = [run.final("reward/episode") for run in result.runs]
    [point] = axes.lines
    np.testing.assert_allclose(point.get_xydata()[0], [np.mean(costs), np.mean(rewards)])
    [ellipse] = [patch for patch in axes.patches if isinstance(patch, Ellipse)]
    np.testing.assert_allclose(
        [ellipse.width / 2, ellipse.height / 2], [scipy.stats.sem(costs), scipy.stats.sem(rewards)]
    )


def test_curves_are_means_of_the_runs(axes, runs):
    [result] = gather([PLAIN], table.read_runs(runs).runs)
    drawing.curves(axes, [result], "cost/episode")
    expected = np.mean([run.values("cost/episode") for run in result.runs], axis=0)
    np.testing.assert_allclose(axes.lines[0].get_ydata(), expected)


def test_front_encloses_what_the_points_beat(axes):
    points = [drawing.Score(5, 0, 1, 0), drawing.Score(8, 0, 3, 0), drawing.Score(4, 0, 2, 0)]
    drawing.front(axes, points, drawing.Score(2, 0, 6, 0), style.PLAIN)
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), [[1, 2], [1, 5], [3, 8], [6, 8]])


def test_runtime_is_measured_speed(runs):
    rows = runtime.rows(gather([PLAIN, SHAPO], table.read_runs(runs).runs))
    values = {row.name: row.values for row in rows}
    assert values["environment steps per second"] == [20_000, 20_000]
    assert values["update, seconds per iteration"] == pytest.approx([0.3, 0.4])
    assert values["total, minutes for 10M steps"] == pytest.approx([500 / 60] * 2)


def test_an_arm_owns_its_runs_and_no_others(tmp_path):
    short = PLAIN.experiment.replace(steps=STEPS)
    write_run(tmp_path / "stopped", short.replace(seed=1), iterations=3)
    write_run(tmp_path / "whole", short.replace(seed=1, workers=4))
    write_run(tmp_path / "other-radius", short.replace(radius=0.02))
    write_run(tmp_path / "other-rule", SHAPO.experiment.replace(steps=STEPS))
    [result] = gather([PLAIN], table.read_runs(tmp_path).runs)
    assert [run.name for run in result.runs] == ["whole"]


def test_missing_runs_and_their_time(tmp_path):
    arm = Arm("plain", PLAIN.experiment.replace(steps=400_000), style.PLAIN)
    write_run(tmp_path / "done", arm.experiment)
    write_run(tmp_path / "half", arm.experiment.replace(seed=1), iterations=10)
    found = table.read_runs(tmp_path).runs
    lack = need(gather([arm], found), found, seeds=3)
    assert lack.complete == 1
    assert lack.missing == [arm.experiment.replace(seed=1), arm.experiment.replace(seed=2)]
    assert lack.seconds == pytest.approx((200_000 + 400_000) / 20_000)
    assert lack.measured
    assert not need([Result(arm, [])], [], seeds=1).measured


def test_provenance_names_seeds_and_steps(runs):
    figure = figures.FIGURES["runtime"]
    results = gather([PLAIN, SHAPO], table.read_runs(runs).runs)
    assert provenance(figure, results) == "2 of 5 seeds · 200k of 10M steps"
    cut = [results[0], Result(SHAPO, [results[1].runs[0].until(100_000)])]
    assert provenance(figure, cut) == "1–2 of 5 seeds · 100k–200k of 10M steps"


def test_longer_runs_are_shown_as_they_stood(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(style, "FORMATS", ("svg",))
    arguments = ["runtime", "--runs", str(runs), "--out", str(tmp_path), "--steps", "100000"]
    cli.dispatch(["figure", *arguments])
    assert "2 of 5 seeds · 100k of 10M steps" in svg_text(tmp_path, "runtime")


def test_run_trains_exactly_what_is_missing(tmp_path, monkeypatch):
    asked = []

    def run(experiments, out, engine):
        asked.extend(experiments)
        for number, experiment in enumerate(experiments):
            write_run(out / f"new-{number}", experiment)

    sweep = types.SimpleNamespace(run=lambda e, out, engine: run(e, tmp_path / "runs", engine))
    monkeypatch.setitem(sys.modules, "shapo.experiments.sweep", sweep)
    monkeypatch.setattr("shapo.experiments.sweep", sweep, raising=False)
    monkeypatch.setattr(style, "FORMATS", ("svg",))
    write_run(tmp_path / "runs" / "old", PLAIN.experiment.replace(steps=STEPS))
    options = f"--run --steps {STEPS} --seeds 2 --runs {tmp_path / 'runs'} --out {tmp_path}"
    cli.dispatch(["figure", "runtime", *options.split()])
    plain, shapo = (arm.experiment.replace(steps=STEPS) for arm in (PLAIN, SHAPO))
    assert asked == [plain.replace(seed=1), shapo.replace(seed=0), shapo.replace(seed=1)]
    assert "2 of 5 seeds" in svg_text(tmp_path, "runtime")


def test_nothing_to_draw_is_not_a_crash(tmp_path, capsys):
    arguments = ["main", "--runs", str(tmp_path / "none"), "--out", str(tmp_path)]
    with pytest.raises(figures.NothingToDraw, match="main"):
        cli.dispatch(["figure", *arguments])
    out = capsys.readouterr().out
    assert "needs 140 runs: 0 complete, 140 missing" in out
    assert "30.6 hours one after another (assuming 10,000 steps/s)" in out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mian"], "did you mean main?"),
        (["main", "--seeds", "0"], "--seeds: '0'"),
        (["main", "--sedes", "2"], "--sedes"),
        (["main", "--steps=-5"], "--steps: '-5'"),
    ],
)
def test_bad_input_is_named(arguments, message, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(["figure", *arguments])
    assert left.value.code == 2
    assert message in capsys.readouterr().err


def test_list_names_every_figure(capsys):
    cli.dispatch(["figure", "list"])
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == list(figures.FIGURES)


@pytest.mark.parametrize("name", MEASURED)
def test_methods_are_told_apart_without_colour(name):
    for shown in drawing.by_panel(
        [Result(arm, []) for arm in figures.FIGURES[name].arms()]
    ).values():
        seen = {}
        for arm, _ in shown:
            look = (arm.look.marker, str(arm.look.line))
            algorithm = arm.experiment.algo
            assert seen.setdefault((algorithm, look), arm.label) == arm.label
