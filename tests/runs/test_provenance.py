"""A run knows the code that made it."""

import importlib.metadata
import subprocess

import hostile
import pytest

import shapo
from shapo.cli import main as cli
from shapo.runs.folder import Run
from shapo.runs.provenance import commit, commit_of, here, installed, provenance_of, unlike
from shapo.runs.reading import read_runs


@pytest.fixture
def tree(tmp_path):
    """A work tree with one commit, in a folder whose name needs escapes in an address."""
    folder = tmp_path / "my tree"
    folder.mkdir()
    (folder / "code.py").write_text("x = 1\n")
    who = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    for command in (("init",), ("add", "."), (*who, "commit", "--message", "first")):
        subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True)
    return folder


def origin(folder, editable=True):
    return {"url": folder.as_uri(), "dir_info": {"editable": editable}}


def test_what_pip_took_from_a_repository_is_known():
    assert commit_of({"url": "…", "vcs_info": {"vcs": "git", "commit_id": "ab" * 20}}) == "ab" * 20


def test_a_work_tree_answers_for_itself(tree):
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tree, capture_output=True, text=True)
    assert commit_of(origin(tree)) == head.stdout.strip()
    (tree / "code.py").write_text("x = 2\n")
    assert commit_of(origin(tree)) == f"{head.stdout.strip()}-dirty"


def test_what_nobody_knows_is_not_made_up(tree, tmp_path, monkeypatch):
    assert commit_of({}) == ""
    assert commit_of(origin(tree, editable=False)) == ""  # copied, and who knows when
    assert commit_of(origin(tmp_path)) == ""  # no work tree
    monkeypatch.setenv("PATH", str(tmp_path))  # no git
    assert commit_of(origin(tree)) == ""


@pytest.fixture
def not_installed(monkeypatch):
    """As on PYTHONPATH: the sources are found, and nobody has written down what they are."""
    whole = importlib.metadata.distribution

    def distribution(name):
        if name == "shapo":
            raise importlib.metadata.PackageNotFoundError(name)
        return whole(name)

    monkeypatch.setattr(importlib.metadata, "distribution", distribution)
    for each in (installed, commit):
        each.cache_clear()
    yield
    for each in (installed, commit):
        each.cache_clear()


def test_sources_that_were_not_installed_make_runs(not_installed, tmp_path, capsys):
    made = Run.open(hostile.write_run(tmp_path / "run")).made
    assert (made.version, made.commit) == (shapo.__version__, "") == ("unknown", "")
    assert made.packages["jax"] and made == here()
    (found,), skipped = read_runs(tmp_path)
    assert found.finished and not skipped
    cli.main(["--version"])
    assert capsys.readouterr().out == "unknown\n"


def test_where_numbers_come_from_is_found_again():
    now = here()
    assert now.processor and now.version and now.packages["jax"]
    written = {"version": now.version, "commit": now.commit, "packages": now.packages}
    made_with = {"processor": now.processor, "arithmetic": now.arithmetic}
    assert provenance_of(written | made_with) == now
    assert unlike(now.decisive, now.known) == ""


def test_the_kind_of_processor_decides_where_it_made_the_numbers_alone():
    now = here()
    elsewhere = now._replace(processor="znver9")
    assert unlike(elsewhere.decisive, now.known) == ""
    before = elsewhere._replace(
        arithmetic=""
    )  # it was not recorded once, and every kind had its own
    assert (
        unlike(before.decisive, now.known) == f"processor znver9, this is processor {now.processor}"
    )
    own = elsewhere._replace(arithmetic="znver9")
    assert (
        unlike(own.decisive, now.known) == f"arithmetic znver9, this is arithmetic {now.arithmetic}"
    )


def test_what_was_not_recorded_is_not_said_to_have_been_otherwise():
    then = provenance_of({"version": here().version, "packages": "none"})
    assert (then.processor, then.packages) == ("", {})
    assert unlike(then.decisive, here().known) == ""
    other = {"jax": "0.1", "processor": "old", "gone": "1"}
    said = "jax 0.1, processor old, gone 1, this is jax 0.2, processor new, gone None"
    assert unlike(other, {"jax": "0.2", "processor": "new"}) == said
