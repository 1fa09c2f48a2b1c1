"""The paper's figures: what they need, what they say, and that they show the runs' numbers."""

import contextlib
import dataclasses
import io
import itertools
import shutil
import sys
import types
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.stats
from matplotlib.colors import to_rgb
from matplotlib.patches import Ellipse
from synthetic import write_run

from shapo.cli import main as cli
from shapo.experiment import Experiment
from shapo.experiments import figures, style
from shapo.experiments.figures import drawing, fronts, runtime, schedules, sensitivity, tags
from shapo.experiments.figures.figure import Arm, Result, at_radius, gather, need, provenance
from shapo.experiments.quantities import COST_RATE
from shapo.rules.multipliers import Pid
from shapo.runs.archives import write_archive
from shapo.runs.history import History
from shapo.runs.reading import read_runs
from shapo.words import radius_text, steps_text

STEPS = 200_000
ANALYTIC = [name for name, figure in figures.FIGURES.items() if not figure.arms()]
MEASURED = [name for name in figures.FIGURES if name not in ANALYTIC]
PLAIN, SHAPO = (arm.with_steps(STEPS) for arm in figures.FIGURES["runtime"].arms())
OF_RUNTIME = [arm.experiment.essence("seed") for arm in (PLAIN, SHAPO)]

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
        places = ["--runs", str(runs), "--out", str(folder)]
        cli.dispatch(["figure", *MEASURED, *places, "--steps", str(STEPS)])
    return folder, said.getvalue()


@pytest.fixture
def axes():
    yield plt.figure().add_subplot()
    plt.close("all")


def svg_text(folder, name):
    return (folder / f"{name}.svg").read_text()


def test_what_the_paper_leaves_open_of_its_figures_is_told():
    """Each value that we chose stands in the table of differences."""
    page = (Path(__file__).parents[2] / "docs/fidelity.md").read_text().splitlines()
    row = lambda begin: next(line for line in page if line.startswith(f"| {begin}"))
    arms = lambda name: [arm.experiment for arm in figures.FIGURES[name].arms()]
    fixed_alpha = {
        each.alpha
        for name in ("schedules", "schedules-front")
        for each in arms(name)
        if each.schedule == "alpha"
    }
    span = lambda values, text: f"{text(values[0])} to {text(values[-1])}"
    plain = "{:g}".format
    told = row("values in Figures 8, 9, 11 and 12").split("|")[4]
    assert f"α {', '.join(map(plain, fixed_alpha))} in Figures 8 and 11" in told
    varied = sensitivity.VALUES
    first = f"δ {span(varied['pessimism'], radius_text)} and ρ {span(varied['rho_critic'], plain)}"
    assert f"{first} in Figure 9" in told
    second = f"δ {span(schedules.RADII, radius_text)} and α {span(schedules.ALPHAS, plain)}"
    assert f"{second} in Figure 12" in told
    assert {f"{steps_text(each.steps)} steps" for each in arms("unconstrained")} == {
        told.split(";")[-1].strip()
    }
    multipliers = ", ".join(map(plain, fronts.MULTIPLIERS))
    assert f"| {multipliers}:" in row("first multipliers of Figures 4 and 11")


def test_every_item_of_the_paper_has_one_figure():
    expected = Counter(f"Figure {number}" for number in range(1, 18))
    expected += Counter(["Table 1", "left out of the paper"])
    assert Counter(figure.item for figure in figures.FIGURES.values()) == expected


@pytest.mark.parametrize("name", ANALYTIC)
def test_analytic_figures_need_nothing(name, tmp_path, monkeypatch):
    monkeypatch.setattr(style, "FORMATS", ("svg",))
    for place in ("first", "again"):
        arguments = [name, "--runs", str(tmp_path / "none"), "--out", str(tmp_path / place)]
        cli.dispatch(["figure", *arguments])
    assert svg_text(tmp_path / "first", name) == svg_text(tmp_path / "again", name)


def test_a_figure_is_saved_for_screen_and_print(tmp_path):
    cli.dispatch(["figure", ANALYTIC[0], "--runs", str(tmp_path / "none"), "--out", str(tmp_path)])
    begins = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    assert {path.suffix for path in tmp_path.iterdir()} == begins.keys()
    assert all(path.read_bytes().startswith(begins[path.suffix]) for path in tmp_path.iterdir())


@pytest.mark.parametrize("name", MEASURED)
def test_figures_are_drawn_from_the_runs_there_are(name, drawn):
    folder, said = drawn
    text = svg_text(folder, name)
    assert "2 of 5 seeds · 200k of" in text
    assert "not run" not in text
    arms = len(figures.FIGURES[name].arms())
    about_it = said.split(f"{name} ")[1].split("drawn:")[0]
    assert f"needs {5 * arms} runs: {2 * arms} complete, {3 * arms} missing" in about_it


def test_a_figure_with_gaps_says_so(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(style, "FORMATS", ("svg",))
    figure = figures.FIGURES["fisher-euclidean"]
    found = read_runs(runs).runs
    only_ant = [run for run in found if run.experiment.env == "Ant-v4"]
    arms = [arm.with_steps(STEPS) for arm in figure.arms()]
    figures.making.save(figure, gather(arms, only_ant), tmp_path)
    text = svg_text(tmp_path, "fisher-euclidean")
    assert text.count("not run yet") == 3
    assert "9 of 12 configurations not run" in text


def test_points_are_means_and_ellipses_standard_errors(axes, runs):
    [result] = gather([SHAPO], read_runs(runs).runs)
    drawing.scatter(axes, [result], COST_RATE)
    costs = [run.history.last("cost/rate") for run in result.runs]
    rewards = [run.history.final("reward/episode") for run in result.runs]
    [point] = axes.lines
    np.testing.assert_allclose(point.get_xydata()[0], [np.mean(costs), np.mean(rewards)])
    [ellipse] = [patch for patch in axes.patches if isinstance(patch, Ellipse)]
    np.testing.assert_allclose(
        [ellipse.width / 2, ellipse.height / 2], [scipy.stats.sem(costs), scipy.stats.sem(rewards)]
    )


def test_names_beside_points_cover_neither_each_other_nor_the_edge(axes, runs):
    [result] = gather([SHAPO], read_runs(runs).runs)
    named = [
        result._replace(arm=dataclasses.replace(result.arm, tag=f"method {number}"))
        for number in range(4)
    ]
    drawing.scatter(axes, named, COST_RATE)
    [x] = axes.lines[0].get_xdata()
    axes.set_xlim(0.9 * x, 1.005 * x)
    tags.keep_apart(axes.figure)
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    panel = axes.get_window_extent()
    assert all(panel.x0 <= box.x0 and box.x1 <= panel.x1 for box in boxes)


def test_a_legend_names_what_is_drawn(runs):
    arms = [arm.with_steps(STEPS) for arm in figures.FIGURES["schedules-single"].arms()]
    own = [run for run in read_runs(runs).runs if run.experiment.schedule == "fixed"]
    [legend] = figures.FIGURES["schedules-single"].draw(gather(arms, own)).legends
    assert [text.get_text() for text in legend.get_texts()] == ["plain", "SHAPO, fixed δ"]
    plt.close("all")


def test_curves_are_means_of_the_runs(axes, runs):
    [result] = gather([PLAIN], read_runs(runs).runs)
    drawing.curves(axes, [result], "cost/episode")
    expected = np.mean([run.history.columns["cost/episode"] for run in result.runs], axis=0)
    np.testing.assert_allclose(axes.lines[0].get_ydata(), expected)
    error = scipy.stats.sem([run.history.columns["cost/episode"] for run in result.runs])
    [band] = axes.collections
    path = band.get_paths()[0].vertices
    for x, middle, reach in zip(
        result.runs[0].history.values("steps"), expected, error, strict=True
    ):
        here = path[path[:, 0] == x, 1]
        np.testing.assert_allclose([here.min(), here.max()], [middle - reach, middle + reach])


def test_a_point_is_of_the_runs_whose_return_and_cost_are_known(runs):
    [result] = gather([SHAPO], read_runs(runs).runs)
    known, lost = result.runs
    unknown = np.full(len(lost.history.values("steps")), np.nan)
    lost = dataclasses.replace(
        lost, moment=History(lost.history.columns | {"reward/episode": unknown})
    )
    found = drawing.score(result._replace(runs=[known, lost]), COST_RATE)
    alone = known.history.final("reward/episode"), 0, known.history.last("cost/rate"), 0
    assert found == pytest.approx(alone)
    assert drawing.score(result._replace(runs=[lost]), COST_RATE) is None


def test_bars_are_standard_errors_of_their_own_number(runs):
    arms = [arm.with_steps(STEPS) for arm in figures.FIGURES["sensitivity"].arms()]
    results = gather(arms, read_runs(runs).runs)
    drawn = figures.FIGURES["sensitivity"].draw(results)
    own = [result for result in results if result.arm.panel == "pessimism"]
    for panel, number in (
        (drawn.axes[0], lambda run: run.history.final("reward/episode")),
        (drawn.axes[2], lambda run: run.history.last("cost/rate")),
    ):
        (container,) = panel.containers
        (bars,) = container.lines[2]
        for bar, result in zip(bars.get_segments(), own, strict=True):
            values = [number(run) for run in result.runs]
            middle, error = np.mean(values), scipy.stats.sem(values)
            np.testing.assert_allclose(bar[:, 1], [middle - error, middle + error])
    plt.close("all")


def test_front_encloses_what_the_points_beat(axes):
    points = [drawing.Score(5, 0, 1, 0), drawing.Score(8, 0, 3, 0), drawing.Score(4, 0, 2, 0)]
    drawing.front(axes, points, drawing.Score(2, 0, 6, 0), style.PLAIN)
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), [[1, 2], [1, 5], [3, 8], [6, 8]])


def test_a_hypervolume_is_out_to_the_worst_of_all_methods(runs):
    results = gather([arm.with_steps(STEPS) for arm in fronts.lambda_arms()], read_runs(runs).runs)
    points = {}
    for arm, own, _ in results:
        rate = np.mean([run.history.last("cost/rate") for run in own])
        earned = np.mean([run.history.final("reward/episode") for run in own])
        points.setdefault(arm.label, []).append((rate, earned))
    rates, returns = np.concatenate([*points.values()]).T
    dearest, least = rates.max(), returns.min()
    expected = []
    for label, own in points.items():
        edges = sorted({rate for rate, _ in own} | {dearest})
        best = lambda most, own=own: max(earned for rate, earned in own if rate <= most)
        area = sum((b - a) * (best(a) - least) for a, b in itertools.pairwise(edges))
        expected.append(f"{label} (hypervolume {area:.3g})")
    (legend,) = fronts.LAMBDA.draw(results).legends
    assert [text.get_text() for text in legend.get_texts()] == expected
    plt.close("all")


def test_runtime_is_measured(runs):
    rows = runtime.rows(gather([PLAIN, SHAPO], read_runs(runs).runs))
    values = {row.name: row.values for row in rows}
    assert values["environment steps per second"] == [20_000, 20_000]
    assert values["update, seconds per iteration"] == pytest.approx([0.3, 0.4])
    assert values["total, minutes for 200k steps"] == pytest.approx([10 / 60] * 2)


def test_a_run_that_stood_still_says_nothing_about_shapo(tmp_path):
    """One that stood still for two hours, and one on a machine that others had: the total agrees with the speed.

    All compiled in their first iteration.
    """
    for seed, (seconds, speed) in enumerate([(70.0, 20_000), (7200.0, 10_000), (400.0, 500)]):
        folder = write_run(tmp_path / f"s{seed}", PLAIN.experiment.replace(seed=seed))
        header, *rows = [line.split(",") for line in (folder / "progress.csv").read_text().split()]
        rows[-1][header.index("time/seconds")] = str(seconds)
        for row in rows:
            row[header.index("time/steps_per_second")] = str(10 if row is rows[0] else speed)
        lines = [",".join(row) for row in (header, *rows)]
        (folder / "progress.csv").write_text("\n".join(lines) + "\n")
    results = gather([PLAIN, SHAPO], read_runs(tmp_path).runs)
    total, *_, speed = runtime.rows(results)
    assert speed.values[0] == 10_000 and np.isnan(speed.values[1])
    assert total.values[0] == pytest.approx(STEPS / 10_000 / 60) and np.isnan(total.values[1])
    lack = need(results[:1], read_runs(tmp_path).runs, seeds=4)
    assert lack.measured and lack.seconds == pytest.approx(STEPS / 10_000)


def test_what_an_archive_does_not_keep_is_said_to_be_missing(runs, tmp_path):
    written = lambda found: [
        text.get_text()
        for panel in runtime.draw(gather([PLAIN, SHAPO], found)).axes
        for text in panel.texts
    ]
    found = [each for each in read_runs(runs).runs if each.experiment.essence("seed") in OF_RUNTIME]
    write_archive(found, tmp_path / "all.runs.gz")
    from_archive, from_folders = written(read_runs(tmp_path).runs)[-1], written(found)[-1]
    assert "the median seed" in from_folders and "shared the machine" in from_folders
    assert "archives do not keep" in from_archive and "archives" not in from_folders


def test_an_arm_has_each_seed_once_and_at_its_length(tmp_path):
    short, shapo = PLAIN.experiment, SHAPO.experiment
    write_run(tmp_path / "stopped", short.replace(seed=1), iterations=3)
    write_run(tmp_path / "whole", short.replace(seed=1, workers=4))
    write_run(tmp_path / "longer", short.replace(seed=1, steps=2 * STEPS))
    write_run(tmp_path / "longer-too", short.replace(seed=2, steps=2 * STEPS))
    write_run(tmp_path / "other-radius", short.replace(radius_per_dim=0.02))
    write_run(tmp_path / "own-task", short.replace(seed=3, env="mine:f"))
    write_run(tmp_path / "shapo", shapo.replace(steps=2 * STEPS))
    found = read_runs(tmp_path).runs
    plain, treated = gather([PLAIN, SHAPO], found)
    assert [run.folder.name for run in plain.runs] == ["whole", "longer-too"]
    assert {run.history.steps for run in (*plain.runs, *treated.runs)} == {STEPS}
    assert {(out.run.folder.name, out.kind) for out in plain.left_out} == {
        ("stopped", "shorter"),
        ("longer", "second of its seed"),
    }
    assert provenance(figures.FIGURES["runtime"], [plain, treated]) == (
        "1–2 of 5 seeds · 200k of 10M steps · 2 longer runs as they stood then · "
        "left out: 1 second of its seed, 1 shorter"
    )


def test_where_a_rate_falls_over_all_steps_a_longer_run_is_another(tmp_path):
    """PPO's after 200k of 400k steps has learned at other rates than one of 200k steps."""
    arm = Arm("PPO", Experiment("Walker2d-v4", "ppo", steps=STEPS), style.PLAIN)
    write_run(tmp_path / "whole", arm.experiment)
    write_run(tmp_path / "longer", arm.experiment.replace(seed=1, steps=2 * STEPS))
    (found,) = gather([arm], read_runs(tmp_path).runs)
    assert [run.folder.name for run in found.runs] == ["whole"]
    assert [(out.run.folder.name, out.kind) for out in found.left_out] == [
        ("longer", "of another length")
    ]
    assert need([found], [], seeds=2).missing == [arm.experiment.replace(seed=1)]


def test_an_archived_run_is_cut_where_one_of_its_rows_ends_or_not_at_all(tmp_path):
    """A row is five iterations of 10M steps: after 51 or 54 the run is known only as it stood after 55."""
    long, short = PLAIN.experiment.replace(steps=10_000_000), PLAIN.experiment.replace(seed=1)
    write_run(tmp_path / "folder", long)
    (tmp_path / "runs").mkdir()
    write_archive(read_runs(tmp_path / "folder").runs, tmp_path / "runs" / "long.runs.gz")
    whole, own_alone = ["folder", "own"], ["own"]
    for steps, names in ((1_000_000, whole), (1_020_000, own_alone), (1_080_000, own_alone)):
        own = write_run(tmp_path / "runs" / "own", short.replace(steps=steps))
        (found,) = gather([PLAIN.with_steps(steps)], read_runs(tmp_path / "runs").runs)
        assert [run.folder.name for run in found.runs] == names
        assert {run.history.steps for run in found.runs} == {steps}
        shutil.rmtree(own)
    assert [out.kind for out in found.left_out] == ["of another length"]


def test_unlike_lengths_are_never_drawn_together(tmp_path, monkeypatch, capsys):
    """SHAPO at 200k steps against plain at 100k: at 200k there is SHAPO alone, and the picture says so."""
    monkeypatch.setattr(style, "FORMATS", ("svg",))
    write_run(tmp_path / "runs" / "plain", PLAIN.experiment.replace(steps=STEPS // 2))
    write_run(tmp_path / "runs" / "shapo", SHAPO.experiment)
    words = ["figure", "main", "--runs", str(tmp_path / "runs"), "--out", str(tmp_path)]
    cli.dispatch([*words, "--steps", str(STEPS)])
    text = svg_text(tmp_path, "main")
    assert "200k of 5M–10M steps · 27 of 28 configurations not run · left out: 1 shorter" in text
    assert "plain: 100k of 200k steps" in capsys.readouterr().out
    cli.dispatch([*words, "--steps", str(STEPS // 2)])
    text = svg_text(tmp_path, "main")
    assert "26 of 28 configurations not run · 1 longer run as it stood then" in text
    with pytest.raises(figures.NothingToDraw, match=r"not drawn: main; .* at this length"):
        cli.dispatch(words)
    said = "the runs there are of another length: steps=100000, or --steps 100000, draws them"
    assert said in capsys.readouterr().out


def test_missing_runs_and_their_time(tmp_path):
    arm = Arm("plain", PLAIN.experiment.replace(steps=400_000), style.PLAIN)
    write_run(tmp_path / "done", arm.experiment)
    write_run(tmp_path / "half", arm.experiment.replace(seed=1), iterations=10)
    found = read_runs(tmp_path).runs
    lack = need(gather([arm], found), found, seeds=3)
    assert lack.complete == 1
    assert lack.missing == [arm.experiment.replace(seed=1), arm.experiment.replace(seed=2)]
    assert lack.seconds == pytest.approx((200_000 + 400_000) / 20_000)
    assert lack.measured
    assert not need([Result(arm, [], [])], [], seeds=1).measured


def test_provenance_names_seeds_and_steps(runs):
    results = gather([PLAIN, SHAPO], read_runs(runs).runs)
    figure = figures.FIGURES["runtime"]
    assert provenance(figure, results) == "2 of 5 seeds · 200k of 10M steps"


def test_a_picture_says_what_its_shades_are(drawn, runs):
    folder, _ = drawn
    for name in MEASURED:
        assert ("standard error" in svg_text(folder, name)) == (name != "runtime")
    results = gather([PLAIN], read_runs(runs).runs)
    said = provenance(figures.FIGURES["sensitivity"], results)
    assert said == "2 of 5 seeds · 200k of 10M steps · bars, shaded: ± 1 standard error"


def test_a_name_has_its_points_colour_darkened(axes, runs):
    """By nearness alone a name that had to give way could be another point's."""
    arms = [arm.with_steps(STEPS) for arm in figures.FIGURES["main"].arms() if arm.tag][:3]
    drawing.scatter(axes, gather(arms, read_runs(runs).runs), COST_RATE)
    inks = {name.get_text(): name.get_color() for name in axes.texts}
    assert inks == {arm.tag: arm.look.ink for arm in arms} and len({*inks.values()}) == 3
    assert all(sum(arm.look.ink) < sum(to_rgb(arm.look.colour)) for arm in arms)


def test_a_note_stays_within_its_picture():
    note = "10 seeds, the paper has 5 · 10M steps · 12 of 15 configurations not run · shaded: ± 1 standard error"
    with style.house_style():
        for width in (3.0, 4.0, 9.0):
            picture, _ = plt.subplots(figsize=(width, 3))
            style.margin_note(picture, note)
            picture.draw_without_rendering()
            written = next(text for text in picture.texts if "seeds" in text.get_text())
            assert written.get_window_extent().x0 >= 0
            assert written.get_text().replace("\n", " ") == note
            assert all(
                line.count("±") == line.count("error") for line in written.get_text().split("\n")
            )
            plt.close(picture)


def test_another_radius_is_that_of_every_panel_that_compares_none(runs):
    other = 5e-4
    for name in MEASURED:
        before = figures.FIGURES[name].arms()
        for old, new in zip(before, at_radius(before, other), strict=True):
            panel = [arm for arm in before if arm.panel == old.panel]
            kinds = {
                arm.experiment.pessimism for arm in panel if arm.experiment.gradient == "shapo"
            }
            takes = old.experiment.gradient == "shapo" and old.experiment.schedule == "fixed"
            wanted = other if takes and len(kinds) == 1 else old.experiment.pessimism
            assert new.experiment == old.experiment.replace(pessimism=wanted)
    plain, shapo = at_radius([PLAIN, SHAPO], other)
    results = gather([plain, shapo], read_runs(runs).runs)
    assert [len(result.runs) for result in results] == [2, 0]
    said = "2 of 5 seeds · 200k of 10M steps · SHAPO's δ 0.0005 · 1 of 2 configurations not run"
    assert provenance(figures.FIGURES["runtime"], results) == said


def test_first_multipliers_make_a_difference():
    """How much of the objective is cost, after the first update of PointGoal1 (a cost of about 50, a limit of 10)."""
    weights = []
    for first in fronts.MULTIPLIERS:
        pid = Pid(first)
        state = pid.update(pid.init(1), np.array([50.0]), np.array([10.0]))
        [multiplier] = pid.value(state)
        weights.append(multiplier / (1 + multiplier))
    assert min(np.diff(weights)) > 0.05
    assert len({arm.experiment for arm in fronts.schedule_arms()}) == 3 * len(fronts.MULTIPLIERS)


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
    write_run(tmp_path / "runs" / "old", PLAIN.experiment)
    options = f"--run --steps {STEPS} --seeds 2 --runs {tmp_path / 'runs'} --out {tmp_path}"
    cli.dispatch(["figure", "runtime", *options.split()])
    plain, shapo = PLAIN.experiment, SHAPO.experiment
    assert asked == [plain.replace(seed=1), shapo.replace(seed=0), shapo.replace(seed=1)]
    assert "2 of 5 seeds" in svg_text(tmp_path, "runtime")


def test_runs_may_lie_in_several_places(tmp_path, monkeypatch, capsys):
    """Those of a folder and of an archive are drawn together; the first place need not be there yet."""
    monkeypatch.setattr(style, "FORMATS", ("svg",))
    write_run(tmp_path / "old" / "plain", PLAIN.experiment)
    write_run(tmp_path / "new" / "shapo", SHAPO.experiment)
    archive = tmp_path / "old.runs.gz"
    write_archive(read_runs(tmp_path / "old").runs, archive)
    words = ["figure", "runtime", "--steps", str(STEPS), "--out", str(tmp_path), "--runs"]
    cli.dispatch([*words, str(tmp_path / "none"), str(archive), str(tmp_path / "new")])
    assert "needs 10 runs: 2 complete, 8 missing" in capsys.readouterr().out
    for places, complaint in (
        ([str(archive), str(tmp_path / "new"), "--run"], "is a file; what is trained goes to"),
        ([str(archive), str(tmp_path / "nwe")], "nwe: no such folder or archive"),
    ):
        with pytest.raises(SystemExit):
            cli.main([*words, *places])
        assert complaint in capsys.readouterr().err


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
        (["main", "--pessimism=-5"], "pessimism is -5.0; it must be at least 0"),
        (["main", "runtime", "--pessimism", "1e-4"], "changes nothing in main, runtime"),
        (["schedules-single", "--pessimism", "1e-3"], "changes nothing in schedules-single"),
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
        [Result(arm, [], []) for arm in figures.FIGURES[name].arms()]
    ).values():
        seen = {}
        for arm, *_ in shown:
            look = (arm.look.marker, str(arm.look.line))
            algorithm = arm.experiment.algo
            assert seen.setdefault((algorithm, look), arm.label) == arm.label
