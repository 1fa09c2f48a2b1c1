"""The report, opened in a real browser."""

import itertools
import json
import re
import shutil

import numpy as np
import pytest
from selenium import webdriver
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait
from synthetic import write_run

from shapo.algorithms import trpo_pid
from shapo.cli import main as cli
from shapo.experiment import Experiment
from shapo.experiment.describing import name_of
from shapo.experiment.extensions import IN_ALGO
from shapo.experiments import report
from shapo.rules.gradients import Shapo
from shapo.runs.reading import read_runs

SHORT = Experiment(steps=1_000_000)
HOSTILE = "<img src=x onerror=document.title='owned'>"
OPTIONS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update --disable-dev-shm-usage "
    "--window-size=1400,1000"
)


# One process opens a browser for all.
pytestmark = pytest.mark.xdist_group("report")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.fail("the report is tested in Chromium: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for option in OPTIONS.split():
        options.add_argument(option)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options, webdriver.ChromeService(driver))
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for seed in range(3):
        write_run(folder / f"plain-{seed}", SHORT.replace(seed=seed))
        shapo = SHORT.replace(seed=seed, gradient="shapo", critic_gradient="sam")
        write_run(folder / f"shapo-{seed}", shapo, skill=1.3)
        walker = SHORT.replace(seed=seed, env="Walker2d-v4", cost_limit=0.0)
        write_run(folder / f"walker-{seed}", walker)
    write_run(folder / HOSTILE, SHORT.replace(seed=9), iterations=20)
    failed = write_run(folder / "failed", SHORT.replace(seed=10), iterations=5)
    (failed / "failure.txt").write_text("worker 3 was killed")
    (folder / "plain-0" / "failure.txt").write_text("killed, and then it went on to its end")
    broken = write_run(folder / "broken", SHORT.replace(seed=11), iterations=5)
    (broken / "config.json").write_text("{")
    return folder


@pytest.fixture
def opened(browser, runs, tmp_path):
    page = tmp_path / "page.html"
    cli.dispatch(["report", str(runs), "-o", str(page), "--title", "a <b>title</b>"])
    browser.get(page.as_uri())
    yield browser
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def texts(browser, selector):
    return [element.text for element in browser.find_elements(By.CSS_SELECTOR, selector)]


def column(browser, index):
    return texts(browser, f"#runs tbody td:nth-child({index + 1})")


def test_everything_is_drawn(opened):
    titles = texts(opened, "figcaption")
    assert len(titles) == len(report.CURVES) + 3
    assert "not recorded" not in opened.find_element(By.ID, "learning").text
    lines = opened.find_elements(By.CSS_SELECTOR, "#learning figure:first-child path.series")
    assert len(lines) == 2
    assert len(opened.find_elements(By.CSS_SELECTOR, "#tradeoff figure:first-child .point")) == 2
    assert "shapo" in opened.find_element(By.ID, "comparison").text
    assert len(column(opened, 0)) == 11


def test_the_curves_pass_through_the_recorded_values(opened, runs):
    Select(opened.find_element(By.ID, "view")).select_by_value("runs")
    [run] = [run for run in read_runs(runs).runs if run.folder.name == "plain-0"]
    drawn = opened.execute_script(
        "return [...document.querySelectorAll('#learning figure:first-child path.series')]"
        ".map(path => path.getAttribute('d'))"
    )
    values = run.history.values("reward/episode")
    heights = [[-float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", path)] for path in drawn]
    likeness = [np.corrcoef(h, values)[0, 1] for h in heights if len(h) == len(values)]
    assert sum(r > 0.99999 for r in likeness) == 1


def test_the_limit_is_a_line_where_it_applies(opened):
    texts_of = lambda number: texts(opened, f"#learning figure:nth-child({number}) text.level")
    assert texts_of(2) == ["limit 10"] and texts_of(1) == texts_of(3) == []
    Select(opened.find_element(By.ID, "env")).select_by_value("Walker2d-v4")
    assert texts_of(2) == ["limit 0"]


def test_a_run_of_one_iteration_is_a_dot_and_two_limits_are_both_read(browser, tmp_path):
    for limit in (5.0, 6.0):
        short = SHORT.replace(cost_limit=(limit,))
        write_run(tmp_path / "runs" / f"limit-{limit:g}", short, iterations=1)
    cli.dispatch(["report", str(tmp_path / "runs"), "-o", str(tmp_path / "page.html")])
    browser.get((tmp_path / "page.html").as_uri())
    figures = browser.find_elements(By.CSS_SELECTOR, "#learning figure")
    assert [len(each.find_elements(By.CSS_SELECTOR, "circle.lone")) for each in figures] == [2] * 5
    left, right = figures[1].find_elements(By.CSS_SELECTOR, "text.level")
    assert (left.text, right.text) == ("limit 5", "limit 6")
    assert left.rect["x"] + left.rect["width"] < right.rect["x"]


def test_a_phone_and_a_long_name_fit(browser, tmp_path):
    algorithm = trpo_pid(cost_limit=10.0, gradient=Shapo(lambda progress: 1e-4))
    for seed in range(2):
        own = SHORT.replace(seed=seed, algo=name_of(algorithm), gradient=IN_ALGO)
        write_run(tmp_path / "runs" / f"own-{seed}", own)
        write_run(tmp_path / "runs" / f"plain-{seed}", SHORT.replace(seed=seed))
    cli.dispatch(["report", str(tmp_path / "runs"), "-o", str(tmp_path / "page.html")])
    phone = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        browser.get((tmp_path / "page.html").as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
        chart = browser.find_element(By.CSS_SELECTOR, "#learning figure")
        assert chart.size["width"] > 340
        names = browser.find_elements(By.CSS_SELECTOR, "#runs td.name")
        cut = "return arguments[0].scrollWidth > arguments[0].clientWidth"
        assert names and not any(browser.execute_script(cut, each) for each in names)
        assert max(each.size["width"] for each in names) < 160
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.get((tmp_path / "page.html").as_uri())
    widest = "return Math.max(...[...document.querySelectorAll('#runs td')].map(cell => cell.clientWidth))"
    assert browser.execute_script(widest) < 600


def test_many_methods_are_told_apart_in_a_legend_that_is_seen_whole(browser, tmp_path):
    for number in range(1, 17):
        for gradient in ("plain", "shapo"):
            each = SHORT.replace(gradient=gradient, radius_per_dim=number / 1000)
            write_run(tmp_path / "runs" / f"{number}-{gradient}", each, iterations=2)
    cli.dispatch(["report", str(tmp_path / "runs"), "-o", str(tmp_path / "page.html")])
    browser.get((tmp_path / "page.html").as_uri())
    looks = browser.execute_script(
        "return [...document.querySelectorAll('#legend .swatch')].map(each => each.innerHTML)"
    )
    assert len(looks) == 32 and len(set(looks)) == 32
    legend = browser.find_element(By.ID, "legend")
    assert not browser.execute_script(
        "return arguments[0].scrollHeight > arguments[0].clientHeight", legend
    )
    assert browser.find_element(By.TAG_NAME, "nav").value_of_css_property("position") == "static"


def test_hovering_shows_values(opened):
    chart = opened.find_element(By.CSS_SELECTOR, "#learning figure:first-child svg")
    ActionChains(opened).scroll_to_element(chart).move_to_element(chart).perform()
    tip = opened.find_element(By.ID, "tip")
    WebDriverWait(opened, 5).until(lambda _: tip.is_displayed())
    assert tip.text.startswith("steps ")
    assert re.search(r"trpo-pid · shapo\s+[\d.]+ ± [\d.]+", tip.text)
    ActionChains(opened).move_to_element(opened.find_element(By.ID, "title")).perform()
    WebDriverWait(opened, 5).until(lambda _: not tip.is_displayed())


def test_the_table_sorts_both_ways(opened):
    buttons = opened.find_elements(By.CSS_SELECTOR, "#runs th button")
    index = [button.text for button in buttons].index("return")
    opened.execute_script("arguments[0].scrollIntoView({block: 'center'})", buttons[index])
    before = [float(text) for text in column(opened, index)]
    assert before != sorted(before)
    buttons[index].click()
    assert [float(text) for text in column(opened, index)] == sorted(before)
    buttons[index].click()
    assert [float(text) for text in column(opened, index)] == sorted(before, reverse=True)


def test_choosing_environment_view_and_groups(opened):
    first = "#learning figure:first-child path.series"
    Select(opened.find_element(By.ID, "env")).select_by_value("Walker2d-v4")
    assert len(opened.find_elements(By.CSS_SELECTOR, first)) == 1
    Select(opened.find_element(By.ID, "view")).select_by_value("runs")
    assert len(opened.find_elements(By.CSS_SELECTOR, first)) == 3
    opened.find_element(By.CSS_SELECTOR, "#legend button").click()
    assert len(opened.find_elements(By.CSS_SELECTOR, first)) == 0


def test_names_are_text_and_never_markup(opened):
    assert opened.title == "a <b>title</b>"
    assert HOSTILE in column(opened, 0)
    assert opened.find_elements(By.TAG_NAME, "img") == []


def test_what_failed_is_listed(opened):
    problems = opened.find_element(By.ID, "problems").text
    assert "worker 3 was killed" in problems
    assert "config.json is not a run's config" in problems
    assert "unfinished: 400k of 1M steps" in problems
    assert "in no mean: 400k steps, others have 1M" in problems


def test_the_page_needs_nothing_else(runs):
    html = report.page(read_runs(runs))
    assert not re.search(r"(?:src|href)=[\"'](?!data:)", html.split('id="data"')[0])
    assert "http" not in re.sub(r"http://www.w3.org/2000/svg", "", html)


def test_data_cannot_end_their_element(tmp_path):
    hostile = "</script><script>alert(1)</script>"
    write_run(tmp_path / hostile, SHORT)
    write_run(tmp_path / "tame", SHORT.replace(seed=1))
    html = report.page(read_runs(tmp_path))
    assert html.count("<script") == 3
    data = re.search(r'id="data">(.*?)</script>', html, re.DOTALL)
    assert data
    assert json.loads(data[1])["runs"][0]["name"] == hostile


def test_what_is_in_no_mean_is_said(tmp_path):
    for seed in range(2):
        write_run(tmp_path / f"s{seed}", SHORT.replace(seed=seed))
    write_run(tmp_path / "s0-again", SHORT, skill=9, seed=77)
    write_run(tmp_path / "s2-stopped", SHORT.replace(seed=2), iterations=5)
    write_run(tmp_path / "two-costs", SHORT.replace(env="mine:f", cost_limit=(1.0, 2.0)))
    found = read_runs(tmp_path)
    shown = report.contents(found, "")
    counted, two = shown["groups"]
    assert (counted["seeds"], two["costs"]) == (2, 2)
    history = [run.history for run in found.runs if run.folder.name in ("s0", "s1")]
    mean = np.mean([each.values("reward/episode")[-1] for each in history])
    assert counted["curves"]["reward/episode"][1][-1] == pytest.approx(mean, rel=1e-3)
    assert counted["curves"]["reward/episode"][0][-1] == 1_000_000, "not cut to the shortest"
    said = {run["name"]: run["left_out"] for run in shown["runs"] if run["left_out"]}
    assert said == {
        "s0-again": "seed 0 counts once, in s0",
        "s2-stopped": "100k steps, others have 1M",
    }


def test_its_numbers_are_those_of_the_rows(tmp_path):
    """A mean over the last tenth, of what sums up the training the last; tails are of the second half's episodes."""
    found = read_runs(write_run(tmp_path / "run", SHORT))
    rows, episodes = (
        np.genfromtxt(tmp_path / "run" / name, delimiter=",", names=True, deletechars="")
        for name in ("progress.csv", "episodes.csv")
    )
    shown = report.contents(found, "")
    ends = [rows[name][45:].mean() for name in ("reward/episode", "cost/episode", "cost/p95")]
    whole = [rows[name][-1] for name in ("cost/rate", "cost/total")]
    expected = [*ends[:2], *whole, ends[2]]
    np.testing.assert_allclose(shown["runs"][0]["final"], expected, rtol=1e-3)
    cost, beyond = shown["groups"][0]["tail"]
    late = episodes["cost"][episodes["steps"] > 500_000]
    assert cost == sorted({*late})
    np.testing.assert_allclose(beyond, [np.mean(late > each) for each in cost], atol=1e-3)


def test_a_difference_and_its_interval_are_of_the_same_decimals(tmp_path):
    """As `shapo compare` writes them; the page's own numbers of four digits could be 1.27e-5 [-3.09e-4, 3.34e-4]."""
    for gradient, seed in itertools.product(("plain", "shapo"), range(3)):
        skill = 1 + 0.1 * seed * (gradient == "shapo")
        experiment = Experiment(gradient=gradient, seed=seed)
        write_run(tmp_path / f"{gradient}{seed}", experiment, skill=skill, seed=seed)
    [[_, _, pairs, *told, _, _]] = report.contents(read_runs(tmp_path), "")["comparisons"]
    assert pairs == 3
    for text in told:
        numbers = re.fullmatch(r"([+-][\d.,]+) \[([+-][\d.,]+), ([+-][\d.,]+)\]", text)
        assert numbers, text
        assert len({len(each.partition(".")[2]) for each in numbers.groups()}) == 1


@pytest.mark.slow
def test_of_one_pair_nothing_is_likely(browser, tmp_path):
    for gradient in ("plain", "shapo"):
        write_run(tmp_path / "runs" / gradient, Experiment(gradient=gradient))
    page = tmp_path / "page.html"
    cli.dispatch(["report", str(tmp_path / "runs"), "-o", str(page)])
    browser.get(page.as_uri())
    cells = browser.find_elements(By.CSS_SELECTOR, "#comparison tbody td")
    assert [cell.text for cell in cells[-2:]] == ["–", "–"]


@pytest.mark.slow
def test_two_hundred_runs_fit_on_a_page(browser, tmp_path):
    for seed in range(100):
        for gradient in ("plain", "shapo"):
            experiment = Experiment(seed=seed, gradient=gradient)
            write_run(tmp_path / "runs" / f"{gradient}-{seed}", experiment)
    page = tmp_path / "page.html"
    cli.dispatch(["report", str(tmp_path / "runs"), "-o", str(page)])
    assert page.stat().st_size < 15e6
    browser.get(page.as_uri())
    Select(browser.find_element(By.ID, "view")).select_by_value("runs")
    lines = browser.find_elements(By.CSS_SELECTOR, "#learning figure:first-child path.series")
    assert len(lines) == 200
    assert browser.get_log("browser") == []


def test_a_page_about_nothing_is_not_written(tmp_path):
    for name in "ab":
        (write_run(tmp_path / name, SHORT) / "config.json").write_text("{")
    with pytest.raises(ValueError, match=r"none of 2 runs can be read; .*a: .*config"):
        cli.dispatch(["report", str(tmp_path), "-o", str(tmp_path / "page.html")])
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("folder", "message"), [("no-such-folder", "no such folder"), (".", "no run in there")]
)
def test_bad_input_is_named(folder, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        cli.dispatch(["report", folder])


def test_a_run_that_went_on_to_its_end_has_not_failed(runs):
    states = {run["name"]: run["state"] for run in report.contents(read_runs(runs), "")["runs"]}
    assert states["plain-0"] == "finished" and states["failed"] == "worker 3 was killed"
