"""Whose instructions numbers are made with, and how a process is told."""

import os
import subprocess
import sys
from pathlib import Path

import llvmlite.binding
import pytest

from shapo import processor


@pytest.fixture(autouse=True)
def asked_anew():
    processor._is_there.cache_clear()
    yield
    processor._is_there.cache_clear()


def without(monkeypatch, name):
    features = {"avx2": True, "fma": True, "bmi2": True, name: False}
    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", lambda: features)


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="Linux alone tells in this way")
def test_common_instructions_are_used_where_they_are_there():
    """And the release of jaxlib that is installed is one whose flag is known: else the numbers are nobody's."""
    flags = set(Path("/proc/cpuinfo").read_text().split())
    assert (processor.arithmetic() == processor.COMMON) == ({"avx2", "fma", "bmi2"} <= flags)


@pytest.mark.parametrize("name", ["avx2", "fma", "bmi2"])
def test_without_them_the_processor_has_an_arithmetic_of_its_own(monkeypatch, name):
    without(monkeypatch, name)
    assert processor.arithmetic() == processor.kind() and processor.environment() == {}


def test_nor_where_nobody_knows_them(monkeypatch):
    def unknown():
        raise RuntimeError

    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", unknown)
    assert processor.arithmetic() == processor.kind()


def test_a_flag_that_xla_may_not_know_is_not_given(monkeypatch):
    monkeypatch.setattr(processor.importlib.metadata, "version", lambda package: "0.11.0")
    assert processor.environment() == {}


def test_the_users_own_flags_are_kept_and_ours_is_the_last_and_there_once(monkeypatch):
    monkeypatch.setattr(processor, "_is_there", lambda: True)
    theirs = (
        f"{processor.XLA_FLAG} --xla_dump_to=here  --xla_cpu_enable_platform_dependent_math=true"
    )
    monkeypatch.setenv("XLA_FLAGS", theirs)
    first = processor.environment()["XLA_FLAGS"].split()
    assert first == [*theirs.split()[1:], processor.XLA_FLAG]
    monkeypatch.setenv("XLA_FLAGS", " ".join(first))
    assert processor.environment()["XLA_FLAGS"].split() == first


TOO_LATE = """
import jax
from shapo.learning import compiling
from shapo.runs.provenance import here
before = here().arithmetic
jax.numpy.ones(2).sum()
for _ in range(2):
    compiling.prepare()
print(before, here().arithmetic)
"""


@pytest.mark.parametrize("told", [False, True])
def test_what_jax_began_with_otherwise_is_not_said_to_be_common(told):
    """It listens to no variable any more, however often it is asked, and what is recorded must be so."""
    ours = processor.environment() | {"PJRT_NPROC": "2"}
    alone = {name: value for name, value in os.environ.items() if name not in ours}
    ours |= {"XLA_FLAGS": processor.XLA_FLAG} if processor.environment() else {}
    words = [sys.executable, "-c", TOO_LATE]
    found = subprocess.run(
        words, env=alone | (ours if told else {}), capture_output=True, text=True, check=True
    )
    after = processor.arithmetic() if told else processor.kind()
    assert found.stdout.split() == [processor.arithmetic(), after]
    assert ("JAX was in use before" in found.stderr) == (not told)
