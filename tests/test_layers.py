"""Imports go down only, between the rooms and inside them: a newcomer can read the house from the ground up."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "shapo"
ROOMS = [
    "types", "words", "processor", "experiment", "rules", "envs", "algorithms", "rollout", "learning", "runs",
    "training", "evaluate", "film", "experiments", "bench", "cli", "__main__", "__init__",
]  # fmt: skip
"""From the ground up: a room imports those before it."""
ACTING = {"types", "processor", "experiment", "envs", "rollout"}
HEAVY = {"jax", "optax"}


def modules():
    return sorted(SOURCE.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(("shapo", *(part for part in parts if part != "__init__")))


LONGEST = 250
"""Lines of a file that holds one idea."""
NAMES = {name(path) for path in modules()}


def imports(path: Path):
    """(imported module, line) of every import in a file, wherever it stands in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                below = f"{node.module}.{alias.name}"
                yield (below if below in NAMES else node.module), node.lineno


def test_every_file_is_in_a_room():
    assert {room(path) for path in modules()} == set(ROOMS)


def test_imports_go_down():
    up = [
        f"{path}:{line} imports {imported}"
        for path in modules()
        for imported, line in imports(path)
        if imported.startswith("shapo.")
        and ROOMS.index(imported.split(".")[1]) > ROOMS.index(room(path))
    ]
    assert not up


def test_no_circle_inside_a_room():
    graph = {
        name(path): {other for other, _ in imports(path) if other in NAMES} - {name(path)}
        for path in modules()
        if room(path) != "__init__"
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"imports go round in a circle: {' → '.join(error.args[1])}")


def test_acting_knows_no_jax():
    heavy = [
        f"{path}:{line} imports {imported}"
        for path in modules()
        if room(path) in ACTING
        for imported, line in imports(path)
        if imported.split(".")[0] in HEAVY
    ]
    assert not heavy


def test_a_file_holds_one_idea():
    lengths = {name(path): len(path.read_text().splitlines()) for path in modules()}
    assert {module: lines for module, lines in lengths.items() if lines > LONGEST} == {}
