"""Writes what the published runs say into docs/study.md, and draws their curves.

python docs/draw_study.py
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from shapo.experiments import style
from shapo.experiments.comparison import picture
from shapo.experiments.comparison.arms import arms_of
from shapo.experiments.study import forest, judging, telling
from shapo.experiments.study.questions import Block
from shapo.runs.folder import Run
from shapo.runs.reading import read_runs

DOCS = Path(__file__).parent
PAGE, DATA, IMAGES = DOCS / "study.md", DOCS / "study", DOCS / "images" / "study"
CLAIMS = "claims.png"
END = "<!-- end -->"
DIFFERENCE = re.compile(r"(\S+ \[.*\])")


def begin(part: str) -> str:
    """How a part of the page that is written here begins."""
    return f"<!-- {part}, written by docs/draw_study.py -->"


def parts(runs: Sequence[Run]) -> dict[str, str]:
    """The claims, and the tables of every block that has runs, as Markdown."""
    headings = (*telling.CLAIMED[:-1], "figure")
    claims = [
        (
            *told,
            "<br>".join(map(_unbroken, differences.splitlines())),
            seeds,
            said_by,
            _figure(command),
        )
        for *told, differences, seeds, said_by, command in telling.claims(runs)
    ]
    table = "\n".join(_table(headings, claims))
    sections = "\n".join(line for block in judging.begun(runs) for line in _section(block, runs))
    return {"claims": f"{telling.effort(runs)}.\n\n{table}", "blocks": sections.strip()}


def _figure(command: str) -> str:
    name = command.removeprefix("figure ")
    return "–" if name == command else f"`{name}`"


def _unbroken(told: str) -> str:
    """A difference and its interval stay on one line."""
    return DIFFERENCE.sub(r'<span class="unbroken">\1</span>', told)


def _around(page: str, part: str) -> tuple[str, str]:
    before, found, rest = page.partition(begin(part))
    _, end, after = rest.partition(END)
    if not (found and end):
        raise SystemExit(f"{PAGE} lacks a line {begin(part)!r}, or {END!r} after it")
    return before, after


def _section(block: Block, runs: Sequence[Run]) -> Iterator[str]:
    yield f"### {telling.title(block, runs)}"
    yield ""
    yield from _table(telling.ARMS, telling.arms(block, runs))
    if rows := telling.verdicts(block, runs):
        yield ""
        yield from _table(telling.VERDICTS, rows)
    yield ""
    for name in pictures(block, runs):
        yield f"![Return, cost, and return against cost rate](images/study/{name})"
        yield ""


def _table(headings: telling.Row, rows: Sequence[telling.Row]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield "|---" * len(headings) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def draw(runs: Sequence[Run]) -> None:
    """The pictures of each block, and of all claims."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    for block in judging.begun(runs):
        for name, shown in pictures(block, runs).items():
            with style.house_style():
                figure = picture.draw(arms_of(shown))
                _save(figure, name)
    with style.house_style():
        _save(forest.draw(judging.judgements(runs)), CLAIMS)


def _save(figure: Figure, name: str) -> None:
    figure.savefig(IMAGES / name, dpi=140, bbox_inches="tight")
    plt.close(figure)


def pictures(block: Block, runs: Sequence[Run]) -> dict[str, list[Run]]:
    """The files of a block and the runs on them: one for each algorithm, with SHAPO and without."""
    several = len({arm.algo for arm in block.arms.values()}) > 1
    found: dict[str, list[Run]] = {}
    for name, arm in block.arms.items():
        file = "-".join([*block.name.split(), *([arm.algo] if several else [])]) + ".png"
        if own := block.found(name, runs):
            found.setdefault(file, []).extend(own)
    return found


def main() -> None:
    """Draw, and write the tables into the page."""
    runs = read_runs(DATA).runs
    draw(runs)
    page = PAGE.read_text()
    for part, text in parts(runs).items():
        before, after = _around(page, part)
        page = f"{before}{begin(part)}\n\n{text}\n\n{END}{after}"
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
