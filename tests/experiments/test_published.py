"""What docs/study.md says is what the published runs say."""

import gzip
import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest

from shapo.experiment import Experiment
from shapo.experiments.quantities import COST, RETURN, TOTAL_COST
from shapo.experiments.study import judging
from shapo.experiments.study.questions import CLAIMS
from shapo.runs.reading import read_runs

DOCS = Path(__file__).parents[2] / "docs"
KNOWN = ("study", "study-closely", "study-plan", "validation")
NUMBER = re.compile(r"\d[\d,.]*(?:e-\d+)?(?<![,.])")


@pytest.fixture(scope="module")
def study():
    spec = importlib.util.spec_from_file_location("draw_study", DOCS / "draw_study.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def runs():
    return read_runs(DOCS / "study").runs


def test_every_table_is_what_the_data_give(study, runs):
    assert runs
    parts = study.parts(runs)
    assert {part: tables(study, part) for part in parts} == parts


def tables(study, part):
    """What the page has of a part that is written by the script."""
    _, begin, rest = page("study").partition(study.begin(part))
    written, end, _ = rest.partition(study.END)
    assert begin and end
    return written.strip()


def test_every_number_in_the_words_is_in_the_tables(study, runs):
    """Or in the plan, which was there before them: five seeds are five seeds."""
    words = page("study").partition("## Can a row be repeated?")[0]
    given = page("study-plan").partition("## Changes to the plan")[0]
    for part, text in study.parts(runs).items():
        words = words.replace(f"{study.begin(part)}\n\n{text}\n\n{study.END}", "")
        given += text
    known = {*NUMBER.findall(given)}
    assert [number for number in NUMBER.findall(words) if number not in known] == []


def test_the_table_of_the_demo_is_what_its_published_runs_give():
    rows = {
        "TRPO": "trpo_plain",
        "PID-Lagrangian": "trpo-pid_plain",
        "PID-Lagrangian with SHAPO": "trpo-pid_shapo",
    }
    runs = {
        run.folder.name.partition("v0_")[2]: run for run in read_runs(DOCS / "demo.runs.gz").runs
    }
    readme = (DOCS.parent / "README.md").read_text()
    for title, name in rows.items():
        run = runs[f"{name}_s0"]
        earned, paid, total = (each.of(run) for each in (RETURN, COST, TOTAL_COST))
        assert f"| {title} | {earned:.1f} | {paid:.3g} | {total:,.0f} |" in readme


def test_the_table_of_validation_is_what_its_published_runs_give():
    by_algo = {}
    for run in read_runs(DOCS / "validation").runs:
        by_algo.setdefault(run.experiment.algo, []).append(run)
    for algo, runs in by_algo.items():
        wanted = Experiment("SafetyPointGoal1-v0", algo, cost_limit=25.0).essence("seed")
        assert all(run.finished and run.experiment.essence("seed") == wanted for run in runs)
    told = dict(
        re.findall(r"^\| \[`([\w-]+)`\].*? \| ([^|]+ \| \d+) \|$", page("validation"), re.M)
    )
    assert told == {
        algo: f"{achieved(runs, RETURN)} / {achieved(runs, COST)} | {len(runs)}"
        for algo, runs in by_algo.items()
    }


def achieved(runs, quantity):
    """Mean ± standard deviation over seeds, of several."""
    numbers = [quantity.of(run) for run in runs]
    spread = f" ± {np.std(numbers, ddof=1):.1f}" if len(numbers) > 1 else ""
    return f"{np.mean(numbers):.1f}{spread}"


def test_what_is_set_aside_is_looked_at_in_another_way():
    headings = {claim.instead for claim in CLAIMS} - {""}
    assert headings
    assert {
        heading for heading in headings if f"\n## {heading}\n" not in page("study-closely")
    } == set()


def test_every_number_of_the_advice_is_known_from_somewhere():
    """But for those of its own program, which is run."""
    known = {each for name in KNOWN for each in NUMBER.findall(page(name))}
    words = re.sub(r"```.*?```", "", page("practice"), flags=re.DOTALL)
    assert [number for number in NUMBER.findall(words) if number not in known] == []


@pytest.mark.parametrize("path", ["README.md", "docs/index.md", "docs/practice.md"])
def test_every_interval_told_elsewhere_is_one_of_the_studys(study, runs, path):
    told = re.findall(r"[+-]\d[\d.]* \[[^]]+\]", " ".join((DOCS.parent / path).read_text().split()))
    assert told
    assert [each for each in told if each not in study.parts(runs)["claims"]] == []


def page(name):
    return (DOCS / f"{name}.md").read_text()


def test_the_front_page_counts_the_runs_of_its_picture(study, runs):
    (flagship,) = (block for block in judging.begun(runs) if block.name == "flagship")
    finished = sum(len(flagship.found(arm, runs)) for arm in flagship.arms)
    assert f"{finished} trainings of 10M steps" in (DOCS.parent / "README.md").read_text()


def test_every_picture_is_there(study, runs):
    pictures = {name for block in judging.begun(runs) for name in study.pictures(block, runs)}
    assert {*pictures, study.CLAIMS} == {path.name for path in study.IMAGES.glob("*.png")}


def test_the_files_are_small_and_say_which_version_made_them():
    files = list((DOCS / "study").iterdir())
    assert files and all(path.stat().st_size < 1e6 for path in files)
    for path in files:
        written = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
        assert all(len(each["config"]["commit"]) == 40 for each in written)


def test_what_was_withdrawn_judges_nothing(runs):
    """CPO believed too much of SHAPO's gradient in the versions that made these."""
    withdrawn = read_runs(DOCS / "withdrawn").runs
    assert len(withdrawn) == 20
    ours = lambda run: run.experiment.algo == "cpo" and run.experiment.gradient == "shapo"
    assert all(map(ours, withdrawn))
    versions = {run.made.commit for run in withdrawn}
    assert not [run.folder for run in runs if ours(run) and run.made.commit in versions]
