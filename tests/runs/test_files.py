"""Files are whole or not there, and what cannot be read is named in one line."""

import contextlib
import os
import resource
import stat

import matplotlib.pyplot as plt
import numpy as np
import pytest
from synthetic import write_run

from shapo.experiment import Experiment
from shapo.experiments import report, style
from shapo.runs.files import Damaged, pack, read_json, unpack, write_atomically
from shapo.runs.folder import Run


@contextlib.contextmanager
def files_no_longer_than(size):
    """As on a disk that is full: the write that would go beyond fails, in the middle."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def draw(path, points):
    figure, axes = plt.subplots()
    axes.plot(np.arange(points))
    style.write(figure, path)
    plt.close(figure)


def write_report(path, points):
    report.write([path.parent / "runs"], path, "x" * points)


@pytest.mark.parametrize(
    "write", [write_report, draw, lambda path, n: write_atomically(path, b"x" * n)]
)
def test_a_full_disk_leaves_the_old_file_and_names_it(tmp_path, write):
    write_run(tmp_path / "runs" / "a", Experiment(steps=100_000))
    path = tmp_path / "page.png"
    write(path, 3)
    before = path.read_bytes()
    with files_no_longer_than(1), pytest.raises(OSError) as error:
        write(path, 2000)
    assert error.value.filename == str(path)
    assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["page.png", "runs"]


def test_a_folder_that_is_missing_is_said_of_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        write_atomically(tmp_path / "nowhere" / "page.html", b"x")
    assert error.value.filename == str(tmp_path / "nowhere" / "page.html")


def test_a_run_that_a_full_disk_kept_from_beginning_can_begin_later(tmp_path):
    for folder in (tmp_path, tmp_path / "new"):
        with files_no_longer_than(1), pytest.raises(OSError) as error:
            Run.create(folder, Experiment())
        assert error.value.filename == str(folder / "config.json")
        Run.create(folder, Experiment())


def test_the_name_is_on_disk_as_well(tmp_path, monkeypatch):
    """After a power cut a file whose folder was not synchronised may have no name."""
    synced, fsync = [], os.fsync

    def watched(descriptor):
        synced.append(stat.S_ISDIR(os.fstat(descriptor).st_mode))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    write_atomically(tmp_path / "file", b"content")
    assert synced == [False, True]  # first the content, then the folder


def test_a_link_in_passing_leads_nowhere(tmp_path):
    (tmp_path / "other").write_text("precious")
    (tmp_path / ".file.tmp").symlink_to(tmp_path / "other")
    write_atomically(tmp_path / "file", b"content")
    assert (tmp_path / "other").read_text() == "precious"
    assert (tmp_path / "file").read_bytes() == b"content" and not (tmp_path / "file").is_symlink()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xfe\x00", "no text"),
        (b"{", "Expecting property name"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
        (b"1" * 10_000, "digits"),
        (None, "No such file"),
    ],
)
def test_what_is_no_json_is_named(tmp_path, content, reason):
    path = tmp_path / "config.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(Damaged, match=reason) as error:
        read_json(path)
    assert str(error.value).startswith(str(path)) and "\n" not in str(error.value)


@pytest.mark.parametrize("facts", ["[" * 100_000, "3", '{"env": 3}', '{"env": "\\ud800"}', "null"])
def test_facts_that_are_none_are_named(tmp_path, facts):
    from safetensors.numpy import save

    path = tmp_path / "policy.safetensors"
    path.write_bytes(save({"a": np.zeros(1)}, {"shapo": facts}))
    with pytest.raises(Damaged, match="damaged") as error:
        unpack(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("kind", ["<f8", ">f8", "<i2", ">i2"])
def test_what_was_packed_comes_back(tmp_path, kind):
    path = tmp_path / "file.safetensors"
    packed = np.arange(6).astype(kind).reshape(2, 3).T
    write_atomically(path, pack({"a": packed}, {"fact": "ü"}))
    arrays, facts = unpack(path)
    np.testing.assert_array_equal(arrays["a"], packed)
    assert facts == {"fact": "ü"}
