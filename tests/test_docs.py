"""What the documentation shows is run, what it names exists, and what it lists is complete.

Python blocks of a page run in order, as one program, in a folder of their own; a block with a title is also written to
that file first, and one that imports a library which is not ours to install runs only where that is installed.
Trainings are cut to a moment. Every line that begins with `shapo` is parsed; quick ones run, and the
slow test runs the rest, cut likewise.
"""

import ast
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from shapo import envs, training
from shapo.cli import main as cli
from shapo.cli.commands import module_of
from shapo.cli.parsing import Parser, experiment_choices
from shapo.experiment import Experiment
from shapo.experiment.algos import ALGOS, IGNORES_COST
from shapo.experiments.figures import FIGURES

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
DOTTED = r"shapo(?:\.\w+)+"
NAME = re.compile(f"`({DOTTED})`")
USED = re.compile(rf"(?<!from )(?<!import )(?<=[^\w/]){DOTTED}")
"""In a sentence: neither imported in it, nor a path, nor the whole of a text, which is for Python to read."""
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
ROW = re.compile(r"^\| `--([\w-]+)` \| ([^|]+) \|", re.MULTILINE)
OUT = re.compile(
    r'shapo (?:train|compare|sweep).* --out ([\w./-]+)|train\((?:[^()]|\([^()]*\))*?"(runs/[\w-]+)"'
)
OTHERS = ("stable_baselines3", "torch", "torchrl")
PUBLISHED = ("docs/study", "docs/validation", "docs/grids")
QUICK = ("envs", "algos", "figure list", "figure gaussian-gradients")
SMALL = {
    "steps": 100, "num_envs": 2, "steps_per_env": 50, "workers": 1, "hidden": (8,), "critic_epochs": 1, "ppo_epochs": 1,
}  # fmt: skip


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    title: str
    text: str


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in FENCE.findall(page.read_text())]


def commands(page: Path) -> Iterator[list[str]]:
    """The words after `shapo` of each line that begins with it."""
    for block in blocks(page):
        if block.language == "bash":
            for line in block.text.replace("\\\n", " ").splitlines():
                if line.startswith("shapo "):
                    yield shlex.split(line.partition(" > ")[0], comments=True)[1:]


def pages_with(has) -> list:
    return [pytest.param(page, id=name_of(page)) for page in PAGES if has(page)]


def with_python(page: Path) -> bool:
    return any(block.language == "python" for block in blocks(page))


@pytest.fixture
def workplace(tmp_path, monkeypatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.fixture
def short_trainings(monkeypatch) -> None:
    """Every training takes a moment."""
    whole = training.train

    def short(experiment, *args, **kwargs):
        idle = experiment.idle()
        small = {name: value for name, value in SMALL.items() if name not in idle}
        return whole(experiment.replace(**small), *args, **kwargs)

    monkeypatch.setattr(training, "train", short)


def lay_out(page: Path, folder: Path) -> None:
    """Write the blocks that have a file's name."""
    for block in blocks(page):
        if block.title:
            (folder / block.title).write_text(block.text)


@pytest.mark.xdist_group("docs")  # one process compiles what several pages train
@pytest.mark.parametrize("page", pages_with(with_python))
def test_python_blocks_run(page, workplace, short_trainings):
    lay_out(page, workplace)
    namespace = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language == "python" and installed(block):
            exec(compile(block.text, name_of(page), "exec"), namespace)


def installed(block: Block) -> bool:
    """Whether the other libraries that a block imports, or goes on using, are here."""
    named = [name for name in OTHERS if re.search(rf"\b{name}\b", block.text)]
    return all(importlib.util.find_spec(name) for name in named)


@pytest.mark.parametrize("page", pages_with(lambda page: any(commands(page))))
def test_commands_are_understood(page, capsys, workplace):
    for name, *words in commands(page):
        options = parsed(name, words)
        if name in ("train", "compare", "bench", "tune") and "resume" not in options:
            chosen = Experiment(**experiment_choices(options))
            if "corridor" not in chosen.env:
                envs.canonical(chosen.env)
        if name == "figure":
            assert set(options.names) <= {"all", "list", *FIGURES}
        if " ".join([name, *words]) in QUICK:
            cli.main([name, *words])
            assert capsys.readouterr().out


def parsed(name, words):
    parser = Parser(prog=f"shapo {name}")
    importlib.import_module(f"shapo.cli.commands.{name}").describe(parser)
    return parser.parse_args(words)


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with(lambda page: any(commands(page))))
def test_commands_run(page, workplace):
    """In order, as a reader would; only what a page's own commands have made is there, and what is published."""
    lay_out(page, workplace)
    for folder in PUBLISHED:
        shutil.copytree(ROOT / folder, workplace / folder)
    planned = set()
    for words in commands(page):
        if words[0] == "sweep" and "--out" in words:
            planned.add(words[words.index("--out") + 1])  # it is not trained, so nothing reads it
        elif planned.intersection(words) or at_full_length(words):
            continue
        cli.main([*words, *cut(words)])


def at_full_length(words: list[str]) -> bool:
    """What cannot be cut: hundreds of trainings, or one of the study, of another kind of processor maybe."""
    return "--run" in words or (words[0] == "repeat" and "docs/study/" in words[1])


def cut(words: list[str]) -> list[str]:
    """Options that, given last, make a command short."""
    small = [
        "--num-envs", "2", "--steps-per-env", "1000", "--workers", "1", "--hidden", "8", "--critic-epochs", "1",
    ]  # fmt: skip
    match words:
        case ["train", *_]:
            return [*small, "--steps", "2000", "--ppo-epochs", "1"]
        case ["compare", first, *_] if not first.startswith("-"):
            return []  # of runs that are there
        case ["compare", *_]:
            return [*small, "--steps", "2000", "--ppo-epochs", "1", "--seeds", "1"]
        case ["bench", "train", *_]:
            return [*small, "--iterations", "3"]
        case ["bench", "env", *_]:
            return ["--seconds", "0.3"]
        case ["evaluate", *_]:
            return ["--episodes", "1"]
        case ["play", *_]:
            return ["--every", "200", "--size", "64"]
        case ["sweep" | "tune", *_]:
            return ["--dry-run"]
    return []


def test_no_two_examples_begin_a_run_in_the_same_folder():
    begun = [
        ("".join(folder), page.name) for page in PAGES for folder in OUT.findall(page.read_text())
    ]
    assert len({folder for folder, _ in begun}) == len(begun) > 10, sorted(begun)


@pytest.mark.parametrize("page", pages_with(lambda page: NAME.search(page.read_text())))
def test_every_name_exists(page):
    for name in NAME.findall(page.read_text()):
        assert resolves(name), f"{name_of(page)} names {name}"


def resolves(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
            for part in parts[end:]:
                found = getattr(found, part)
            return True
        except (ImportError, AttributeError):
            continue
    return False


def test_every_name_in_a_message_is_there_after_import_shapo():
    """Whoever follows a message has imported nothing else."""
    named = {name for text in messages() for name in USED.findall(text)}
    assert {"shapo.train", "shapo.evaluate.blueprint_of", "shapo.envs.BatchEnv"} <= named
    for name in named:  # one after the other would import what the next one needs
        program = [sys.executable, "-c", f"import shapo; {name}"]
        done = subprocess.run(program, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def messages() -> Iterator[str]:
    """Every text of the sources but their docstrings."""
    for path in (ROOT / "src").rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        texts = (node for node in nodes if isinstance(node, ast.Constant))
        yield from (
            text.value
            for text in texts
            if isinstance(text.value, str) and id(text) not in docstrings
        )


@pytest.fixture(scope="module")
def hooks():
    """What the site makes of a page."""
    pytest.importorskip("latex2mathml", reason="of the extra docs")
    spec = importlib.util.spec_from_file_location("hooks", ROOT / "docs/hooks.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "origin, address",
    [
        ("https://github.com/someone/shapo.git", "https://github.com/someone/shapo"),
        ("https://someone:secret@git.example.org/team/shapo", "https://git.example.org/team/shapo"),
        ("git@github.com:someone/shapo.git", "https://github.com/someone/shapo"),
        ("ssh://git@git.example.org:2222/team/shapo.git", "https://git.example.org/team/shapo"),
        ("/srv/repositories/shapo.git", None),
        ("../shapo", None),
        ("file:///srv/shapo", None),
        ("", None),
    ],
)
def test_the_site_links_to_where_the_clone_came_from(hooks, origin, address):
    assert hooks.web_address(origin) == address


def test_a_command_in_a_table_may_go_on_below_but_no_word_is_torn(hooks):
    words = "<span>shapo</span> <span>study</span> <span>--runs</span>"
    other = "<td><code>trpo-pid</code></td>"
    row = hooks.on_page_content(f"<td><code>shapo study --runs</code></td>{other}")
    assert row == f'<td><code class="command">{words}</code></td>{other}'


def test_names_become_links_but_code_stays_code(hooks):
    page = (
        "See `shapo.train`, [`shapo.envs`](x.md):\n\n```python\n# `shapo.train`\n```\n`shapo.load`"
    )
    linked = hooks.on_page_markdown(page)
    assert linked.count("[`shapo.train`][shapo.train]") == 1 and "# `shapo.train`" in linked
    assert "[`shapo.envs`](x.md)" in linked and linked.endswith("[`shapo.load`][shapo.load]")


@pytest.mark.parametrize("page", pages_with(lambda page: "$" in FENCE.sub("", page.read_text())))
def test_every_formula_is_mathematics(page, hooks):
    """What the converter does not know, it writes down letter by letter."""
    text = re.sub(r"`[^`\n]+`", "", FENCE.sub("", page.read_text()))
    for formula in re.findall(r"\$\$?([^$]+)\$\$?", text):
        drawn = hooks.on_page_content(rf'<div class="arithmatex">\[{formula}\]</div>')
        assert drawn.startswith("<math ") and "\\" not in drawn, formula
        assert "<mi>&</mi>" not in drawn and "<mi>&amp;</mi>" not in drawn, formula


@pytest.mark.parametrize("page", pages_with(lambda page: LINK.search(page.read_text())))
def test_every_link_leads_somewhere(page):
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{name_of(page)} links to {target}"


@pytest.mark.parametrize("page", pages_with(lambda page: ROW.search(page.read_text())))
def test_defaults_are_the_published_ones(page):
    algo = "trpo" if page.stem == "index" else page.stem
    experiment = Experiment(env="SafetyPointGoal1-v0", algo=algo)
    for option, value in ROW.findall(page.read_text()):
        default = getattr(experiment, option.replace("-", "_"))
        written = tuple(float(word) for word in value.split())
        assert written == (default if isinstance(default, tuple) else (default,)), option


def test_every_algorithm_has_a_page_and_does_and_is_made_of_what_its_row_says():
    listing = (ROOT / "docs/algorithms/index.md").read_text()
    for algo, row in ALGOS.items():
        does, made = re.findall(rf"^\| .*`{algo}`.*", listing, re.MULTILINE)
        assert does.split("|")[2].strip() == row.about
        _, name, *parts, _, _ = made.split("|")
        assert LINK.search(name), algo
        said = " · ".join(part.strip().replace("`", "") for part in parts if part.strip())
        assert said == row.made_of or (algo.startswith("cpo") and said.startswith(row.made_of))


def test_who_needs_no_cost_is_named_wherever_that_is_said():
    for page in ("environments.md", "faq.md"):
        (line,) = re.findall(r"^.*`npg`.*", (ROOT / "docs" / page).read_text(), re.MULTILINE)
        assert all(f"`{algo}`" in line for algo in IGNORES_COST)
    assert f"needs none ({', '.join(IGNORES_COST)})" in " ".join(module_of("envs").EXAMPLES.split())


def test_every_environment_is_shown():
    page = (ROOT / "docs/environments.md").read_text()
    for row in envs.table():
        assert f"| `{row.id}` | {row.observations} |" in page
        assert f"| {row.cost} | {row.about} |" in page


@pytest.mark.slow
def test_every_recorded_column_is_explained(workplace, short_trainings):
    """The columns of trainings that together record everything."""
    page = (ROOT / "docs/algorithms/index.md").read_text()
    for algo in ("trpo-pid", "cpo"):
        run = training.train(Experiment("Hopper-v4", algo, "shapo"), workplace / algo)
        for column in run.history.columns:
            assert f"`{column}`" in page or column.startswith("gradient_cost/"), column
