"""Draws docs/images/house.png: the rooms of `src/shapo` from the ground up, and which imports which.

python docs/draw_house.py
"""

import ast
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

DOCS = Path(__file__).parent
SOURCE = DOCS.parent / "src" / "shapo"
FLOORS = [
    ["types", "words", "processor"], ["experiment"], ["rules", "envs"], ["algorithms", "rollout"], ["learning"],
    ["runs"], ["training", "evaluate", "film"], ["experiments", "bench"], ["cli"],
]  # fmt: skip
"""Rooms side by side do not import each other."""


def room(path: Path) -> str:
    """Where a file lies."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def lines(name: str) -> int:
    """How much is in a room."""
    return sum(
        len(path.read_text().splitlines()) for path in SOURCE.rglob("*.py") if room(path) == name
    )


def imports() -> Counter[tuple[str, str]]:
    """How many import statements lead from a room to another."""
    found: Counter[tuple[str, str]] = Counter()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("shapo"):
                modules = (
                    [node.module] if "." in node.module else [f"shapo.{a.name}" for a in node.names]
                )
                found.update((room(path), module.split(".")[1]) for module in modules)
    return Counter({(a, b): n for (a, b), n in found.items() if a != b})


def essential(edges: Counter[tuple[str, str]]) -> list[tuple[str, str]]:
    """The arrows that do not follow from others."""
    below = {a: {v for u, v in edges if u == a} for a, _ in edges}

    def reach(name: str) -> set[str]:
        return below.get(name, set()).union(*(reach(each) for each in below.get(name, ())))

    return [(a, b) for a, b in edges if not any(b in reach(other) for other in below[a] - {b})]


def main() -> None:
    """Draw it."""
    places = {
        name: (1.5 * (i + 0.5 - len(floor) / 2), height)
        for height, floor in enumerate(FLOORS)
        for i, name in enumerate(floor)
    }
    figure, axes = plt.subplots(figsize=(6.2, 7))
    for above, below in essential(imports()):
        if above in places and below in places:
            (x, y), (u, v) = places[above], places[below]
            axes.add_patch(
                FancyArrowPatch(
                    (x, y - 0.24), (u, v + 0.24), arrowstyle="-|>", mutation_scale=10, color="#7a8a99",
                    connectionstyle=f"arc3,rad={0.2 * min(1, y - v - 1):.2f}", zorder=1,
                )
            )  # fmt: skip
    for name, (x, y) in places.items():
        axes.add_patch(
            FancyBboxPatch(
                (x - 0.5, y - 0.2), 1.0, 0.4, boxstyle="round,pad=0.03", facecolor="#eef3f8",
                edgecolor="#30506e", zorder=2,
            )
        )  # fmt: skip
        axes.text(x, y + 0.06, name, ha="center", va="center", weight="bold", fontsize=10, zorder=3)
        axes.text(
            x, y - 0.12, f"{lines(name):,} lines", ha="center", va="center", fontsize=7, zorder=3
        )
    axes.set(xlim=(-2.3, 2.3), ylim=(-0.5, len(FLOORS) - 0.5))
    axes.axis("off")
    figure.savefig(DOCS / "images" / "house.png", bbox_inches="tight", dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
