"""What docs/study.md says is what the published runs say."""

import gzip
import importlib.util
import json
from pathlib import Path

import pytest

from shapo.runs.reading import read_runs

DOCS = Path(__file__).parents[2] / "docs"


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
    _, begin, rest = study.PAGE.read_text().partition(study.BEGIN)
    written, end, _ = rest.partition(study.END)
    assert begin and end
    assert written.strip() == study.results(runs).strip()


def test_every_picture_is_there(study, runs):
    pictures = {f"{block.name.replace(' ', '-')}.png" for block in study.published(runs)}
    assert pictures == {path.name for path in study.IMAGES.glob("*.png")}


def test_the_files_are_small_and_say_which_version_made_them():
    files = list((DOCS / "study").iterdir())
    assert files and all(path.stat().st_size < 1e6 for path in files)
    for path in files:
        written = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
        assert all(len(each["config"]["commit"]) == 40 for each in written)
