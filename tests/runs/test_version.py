"""A run knows the code that made it."""

import subprocess

import pytest

from shapo.runs.version import commit_of


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
