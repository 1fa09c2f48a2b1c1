"""One look for every picture: colour-blind safe, told apart in grey by marker and line."""

import io
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.typing import LineStyleType

from shapo.runs.files import write_atomically

# Okabe and Ito's palette (2008).
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
GREY = "#6E6E6E"
FAINT = "#D9D9D9"
DARKER = 0.72

FORMATS = ("png", "svg", "pdf")
# The same picture must be the same file each time.
NO_DATE = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


@dataclass(frozen=True)
class Look:
    """How a configuration is drawn wherever it appears."""

    colour: str
    marker: str
    line: LineStyleType = "-"
    tag_offset: tuple[float, float] = (6, 5)
    """Where a tag stands beside its point, in points; each look has a side, so tags rarely meet."""

    @property
    def marker_size(self) -> float:
        """Points; a star looks smaller than a disc of the same nominal size."""
        return 11 if self.marker == "*" else 6.5

    @property
    def ink(self) -> tuple[float, ...]:
        """Its colour for words, dark enough to be read on white."""
        return tuple(DARKER * part for part in to_rgb(self.colour))


PLAIN = Look(GREY, "o", (0, (4, 1.5)), tag_offset=(4, -10))
SHAPO = Look(VERMILION, "*")
SAM = Look(BLUE, "^", (0, (1, 1.2)))
ALPHA = Look(GREEN, "D", (0, (6, 1.2, 1, 1.2)), tag_offset=(-5, 5))

LOOKS = (
    PLAIN, SHAPO, SAM, ALPHA,
    Look(PURPLE, "s", (0, (8, 2))), Look(ORANGE, "v", (0, (3, 1, 1, 1, 1, 1))),
    Look(SKY, "P", (0, (2, 2))), Look(BLACK, "X", (0, (10, 1, 1, 1))),
)  # fmt: skip
"""Of configurations that are drawn side by side, whatever they are."""

ALGORITHM_COLOURS = {"cpo": BLUE, "trpo-pid": VERMILION, "crpo": GREEN, "saute": PURPLE}

NOTE_LETTERS = 21
"""How many letters of a margin note fit into an inch."""
GLUE = "\N{NO-BREAK SPACE}"

SETTINGS: dict[Any, Any] = {
    "figure.dpi": 200,
    "savefig.dpi": "figure",
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#ECECEC",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.hspace": 0.04,
    "figure.constrained_layout.wspace": 0.04,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "svg.hashsalt": "shapo",
}


@contextmanager
def house_style() -> Iterator[None]:
    """Draw in the house style, without touching the caller's settings."""
    with matplotlib.rc_context():
        # Also not by a `matplotlibrc` in the current folder, which may be somebody else's.
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        yield


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write the picture as `folder/name.png`, `.svg` and `.pdf`, close it, and return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    # Laid out once: otherwise each format would shift a little from the one before.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    paths = [folder / f"{name}.{format}" for format in FORMATS]
    for path in paths:
        write(figure, path)
    plt.close(figure)
    return paths


def write(figure: Figure, path: Path) -> None:
    """Write a picture as one file, the whole of it or nothing; its name's end says in which format."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:], metadata=NO_DATE[path.suffix])
    write_atomically(path, drawn.getvalue())


def margin_note(figure: Figure, text: str) -> None:
    """Write a small note below everything that is on the picture, in as many lines as it takes.

    Its parts are separated by dots; a line ends between two parts, never within one.
    """
    glued = text.replace(" ", GLUE).replace(f"·{GLUE}", "· ")
    room = int(figure.get_figwidth() * NOTE_LETTERS)
    lines = textwrap.fill(glued, room, break_long_words=False).replace(GLUE, " ")
    figure.supxlabel(lines, x=0.99, ha="right", fontsize=6, color="#707070")
