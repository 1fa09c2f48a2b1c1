"""Writes what the published runs say into docs/study.md, and draws their curves.

python docs/draw_study.py
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from shapo.experiments import style
from shapo.experiments.comparison import picture
from shapo.experiments.comparison.arms import arms_of
from shapo.experiments.study import telling
from shapo.experiments.study.questions import Block
from shapo.runs.folder import Run
from shapo.runs.reading import read_runs

DOCS = Path(__file__).parent
PAGE, DATA, IMAGES = DOCS / "study.md", DOCS / "study", DOCS / "images" / "study"
BEGIN, END = "<!-- drawn by docs/draw_study.py -->", "<!-- end -->"


def results(runs: Sequence[Run]) -> str:
    """The claims, and the tables of every block that has runs, as Markdown."""
    claims = [
        (*row, f"`shapo {command} --runs docs/study`") for *row, command in telling.claims(runs)
    ]
    sections = (line for block in telling.begun(runs) for line in _section(block, runs))
    table = _table(telling.CLAIMED, claims)
    return "\n".join([f"{telling.effort(runs)}.", "", *table, "", *sections])


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
    """The pictures of each block."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    for block in telling.begun(runs):
        for name, shown in pictures(block, runs).items():
            with style.house_style():
                figure = picture.draw(arms_of(shown))
                figure.savefig(IMAGES / name, dpi=140, bbox_inches="tight")


def pictures(block: Block, runs: Sequence[Run]) -> dict[str, list[Run]]:
    """The files of a block and the runs on them: one for each algorithm, with SHAPO and without."""
    several = len({arm.algo for arm in block.arms.values()}) > 1
    found: dict[str, list[Run]] = {}
    for name, arm in block.arms.items():
        file = "-".join([*block.name.split(), *([arm.algo] if several else [])]) + ".png"
        if own := telling.within(block, name, runs):
            found.setdefault(file, []).extend(own)
    return found


def main() -> None:
    """Draw, and write the tables into the page."""
    runs = read_runs(DATA).runs
    draw(runs)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{results(runs)}\n{END}{after}")


if __name__ == "__main__":
    main()
