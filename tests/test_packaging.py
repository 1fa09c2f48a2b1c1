"""What is installed: what it needs, what it can do without, and what it consists of."""

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from hostile import write_run
from packaging.requirements import Requirement
from packaging.version import Version

import shapo

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "shapo"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = (
    "ray",
    "wandb",
    "stable_baselines3",
    "onnx",
    "imageio",
    "imageio_ffmpeg",
    "mkdocs",
    "pytest",
    "hypothesis",
    "selenium",
)
OTHER_NAMES = {"yaml": "pyyaml", "PIL": "pillow"}


def distribution(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def required(requirements: list[str]) -> dict[str, Requirement]:
    return {distribution(Requirement(each).name): Requirement(each) for each in requirements}


def imported() -> set[str]:
    """The distributions whose modules the package imports, anywhere in it."""
    modules = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                modules.add(node.module.partition(".")[0])
    third_party = modules - sys.stdlib_module_names - {"shapo"}
    return {distribution(OTHER_NAMES.get(module, module)) for module in third_party}


def run(*words: str, **settings) -> str:
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=True, **settings
    ).stdout


def test_it_depends_on_what_it_imports_and_on_nothing_else():
    needed, extras = required(PROJECT["dependencies"]), PROJECT["optional-dependencies"]
    users = ("ray", "wandb", "video", "sb3", "export")
    optional = {name for extra in users for name in required(extras[extra])}
    assert set(needed) <= imported() <= set(needed) | optional


def test_every_module_imports_without_the_extras():
    program = f"""
import importlib, pkgutil, sys
for name in {OPTIONAL}:
    sys.modules[name] = None
import shapo
for module in pkgutil.walk_packages(shapo.__path__, "shapo."):
    if module.name != "shapo.__main__":
        importlib.import_module(module.name)
print("fine")
"""
    assert run("-c", program).endswith("fine\n")


def test_python_m_shapo_is_shapo():
    assert run("-m", "shapo", "--version") == f"{version('shapo')}\n"
    assert run("-m", "shapo", "--help") == run(
        "-c", "from shapo.cli.main import main; main(['--help'])"
    )


def test_constraints_cover_what_is_declared():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    exact = dict(line.split("==") for line in lines if not line.startswith("#"))
    exact = {distribution(name): Version(number) for name, number in exact.items()}
    declared = PROJECT["dependencies"] + [
        each for extra in ("video", "export", "docs", "dev") for each in PROJECT["optional-dependencies"][extra]
    ]  # fmt: skip
    for name, requirement in required(declared).items():
        if name != "shapo":
            assert exact[name] in requirement.specifier, f"{name} {exact[name]}"


def test_versions_agree():
    assert PROJECT["version"] == version("shapo") == shapo.__version__
    assert f"version: {PROJECT['version']}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.slow
def test_the_wheel_is_whole_and_runs_by_itself(tmp_path):
    run("-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT))
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    files = {
        path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    }
    assert {f"shapo/{path.relative_to(SOURCE)}" for path in files} == {
        name for name in inside if name.startswith("shapo/")
    }
    place = tmp_path / "installed"
    run("-m", "pip", "install", "--quiet", "--no-deps", "--target", str(place), str(wheel))
    alone = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": str(place)}}
    assert run("-c", "import shapo; print(shapo.__file__)", **alone).startswith(str(place))

    def shapo(*words: str) -> str:
        return run(str(place / "bin" / "shapo"), *words, **alone)

    assert "start here:" in shapo("--help")
    assert "SafetyPointGoal1-v0" in shapo("envs")
    shapo("figure", "gaussian-gradients", "--out", "figures")
    assert list((tmp_path / "figures").glob("*.png"))
    write_run(tmp_path / "run")
    shapo("report", "run", "--out", "report.html")  # made of files that are no modules
    assert "drawRunTable();" in (tmp_path / "report.html").read_text()


def test_a_training_loads_nothing_that_it_does_not_need():
    """Each of these takes up to a second, and every run of a sweep is a process of its own."""
    program = "import sys, shapo.training, shapo.learning.learner; print(*sys.modules)"
    assert not {"rich", "scipy.stats", "matplotlib", "mujoco"} & {*run("-c", program).split()}


@pytest.mark.xdist_group("packaging")
def test_tests_of_a_group_share_a_process(request):
    """pytest-xdist tells them by their names' ends; a pytest that it does not know would do all set-up twice."""
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("there is only one process")
    assert request.node.nodeid.endswith("@packaging")
