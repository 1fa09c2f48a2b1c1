"""Command lines that explain themselves: options made from dataclass fields, and errors that fit on one line."""

import argparse
import ast
import dataclasses
import inspect
import itertools
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from shapo.experiment import Experiment
from shapo.experiment.choices import OWN, Kind, kinds
from shapo.experiment.experiment import SECTIONS
from shapo.experiment.idle import idle_among
from shapo.words import READERS, nearest, option_of


class Flowing(argparse.HelpFormatter):
    """Wraps prose to the terminal: lines at the margin, or six blanks deep under a command. Others are to be typed."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines: list[str] = []
        for depth, alike in itertools.groupby(text.splitlines(), key=_depth):
            if depth == 0 or depth >= 6:
                margin = indent + " " * depth
                lines += textwrap.wrap(
                    " ".join(line.strip() for line in alike), width,
                    initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False, break_long_words=False,
                )  # fmt: skip
            else:
                lines += [indent + line for line in alike]
        return "\n".join(lines)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else -1


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, with the nearest name where one was mistyped."""

    def __init__(self, **settings: Any):
        super().__init__(
            **{
                "formatter_class": Flowing,
                "allow_abbrev": False,
                "argument_default": argparse.SUPPRESS,
            }
            | settings
        )

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and leave."""
        print(f"{self.prog}: {message} (see {self.prog} --help)", file=sys.stderr)
        raise SystemExit(2)

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """As argparse, but what is unknown is named by the parser that knows what could be meant."""
        found, unknown = super().parse_known_args(args, namespace)
        options = [word.partition("=")[0] for word in unknown if word.startswith("-")]
        if options:
            known = [name for action in self._actions for name in action.option_strings]
            self.error(f"unknown option {options[0]}{nearest(options[0], known)}")
        if unknown:
            self.error(f"{unknown[0]!r} is one too many: it is no option, nor the value of one")
        return found, unknown


def one_of(choices: Sequence[str]) -> Callable[[str], str]:
    """An option's type: one of a few words."""

    def parse(word: str) -> str:
        if word not in choices:
            raise argparse.ArgumentTypeError(
                f"{word!r} is none of {', '.join(choices)}{nearest(word, choices)}"
            )
        return word

    return parse


def file_named(thing: str, *endings: str) -> Callable[[str], Path]:
    """An option's type: a file to write, whose name ends as such a thing's does, so that it replaces nothing else."""

    def parse(word: str) -> Path:
        if not word.endswith(endings):
            raise argparse.ArgumentTypeError(
                f"{word}: {thing}'s name ends in {' or '.join(endings)}"
            )
        return Path(word)

    return parse


def add_places_of_runs(parser: argparse.ArgumentParser, first: str) -> None:
    """`--runs`, for a command that reads runs wherever they are, and trains what is missing into the first place."""
    parser.add_argument(
        "--runs", nargs="+", type=Path, default=[Path(first)], metavar="RUNS",
        help=f"folders of runs, or archives; what is trained goes to the first [{first}]",
    )  # fmt: skip


def add_experiment_options(parser: argparse.ArgumentParser, without: Sequence[str] = ()) -> None:
    """One option for each field of `Experiment`. What is not given is as published."""
    about, usual = field_docs(Experiment), Experiment()
    section: Any = parser
    for name, kind in kinds(Experiment).items():
        if name in SECTIONS:
            section = parser.add_argument_group(SECTIONS[name])
        if name in without:
            continue
        section.add_argument(
            option_of(name),
            type=_reader(name, kind),
            **{"nargs": "+", "action": "extend"} if kind.several else {},
            metavar=_placeholder(kind),
            help=f"{about[name]} [{_shown(getattr(usual, name))}]".replace("%", "%%"),
        )


def _placeholder(kind: Kind) -> str:
    """What stands for a value in the help: the words there are, unless they are too many for a line."""
    words = (*kind.words, OWN) if kind.extensible and kind.words else kind.words
    if 0 < len(words) < 10:
        return "{" + ",".join(words) + "}"
    return "NAME" if kind.item is str else kind.item.__name__.upper()


def _reader(name: str, kind: Kind) -> Callable[[str], Any]:
    """An option's type: what a word stands for."""
    if kind.item is not str:
        return READERS[kind.item]

    def read(word: str) -> str:
        try:
            return kind.normal(name, word)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def experiment_choices(options: argparse.Namespace) -> dict[str, Any]:
    """The fields of `Experiment` that were given on the command line."""
    names = {field.name for field in dataclasses.fields(Experiment)}
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in vars(options).items()
        if name in names
    }


def warn_of_idle(choices: Iterable[str], experiments: Sequence[Experiment]) -> None:
    """A line about each choice that was made and does nothing in any of the experiments."""
    for name, needed in idle_among(choices, experiments).items():
        warnings.warn(f"{option_of(name)} does nothing here: it needs {needed}", stacklevel=2)


def field_docs(cls: type) -> dict[str, str]:
    """The string written under each field of a dataclass, on one line."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(tree, ast.ClassDef)
    docs = {}
    for field, below in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            assert isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            docs[field.target.id] = " ".join(str(below.value.value).split())
    return docs


def _shown(default: object) -> str:
    return " ".join(map(str, default)) if isinstance(default, tuple) else str(default)
