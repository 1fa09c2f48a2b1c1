"""Imports go down only: a module may import its own package, its own layer, and what stands above it in this list."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "shapo"
LAYERS = [
    ["types", "experiment", "normalization"],
    ["acting", "analysis", "parsing", "presets"],
    ["envs"],
    ["bench_env"],
    ["trees", "gaussian", "adam"],
    ["geometry", "networks", "schedules"],
    ["gradients", "multipliers"],
    ["surrogates", "critics", "objectives"],
    ["steps"],
    ["algorithms"],
    ["recipes", "advantages"],
    ["appraisal", "leaves"],
    ["learner"],
    ["rollout", "policies", "ledger", "tables", "checkpoints", "records", "stopwatch"],
    ["runs"],
    ["training"],
    ["evaluate", "bench_train", "progress"],
    ["experiments"],
    ["comparison"],
    ["commands"],
    ["cli"],
    ["__main__", "__init__"],
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
ACTING = {"types", "experiment", "normalization", "acting", "envs", "rollout"}
HEAVY = {"jax", "optax"}


def modules():
    return sorted(SOURCE.rglob("*.py"))


def top(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path):
    """(imported name, line) of every import in a file, wherever it stands in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (
                (name, node.lineno) for name in (names if node.module == "shapo" else [node.module])
            )


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_down(path):
    assert top(path) in RANK, f"{path.name} is in no layer: add it to LAYERS"
    for name, line in imports(path):
        parts = name.split(".")
        if parts[0] == "shapo" and len(parts) > 1 and parts[1] != top(path) and parts[1] in RANK:
            assert RANK[parts[1]] <= RANK[top(path)], (
                f"{path}:{line} imports {name}, which lies above it"
            )


@pytest.mark.parametrize(
    "path", [p for p in modules() if top(p) in ACTING], ids=lambda p: str(p.relative_to(SOURCE))
)
def test_acting_knows_no_jax(path):
    for name, line in imports(path):
        assert name.split(".")[0] not in HEAVY, f"{path}:{line} imports {name}"
