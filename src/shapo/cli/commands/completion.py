"""`shapo completion`: a script that teaches a shell the commands, options and names.

Made from what the commands declare, so that there is nothing to keep in step.
"""

import argparse
from pathlib import Path
from typing import get_args

from shapo.cli.commands import COMMANDS, parser_of
from shapo.cli.parsing import Parser, one_of
from shapo.experiment import Algo
from shapo.experiment.choices import OWN

EXAMPLES = """\
examples:
  shapo completion bash > ~/.local/share/bash-completion/completions/shapo
  shapo completion zsh > ~/.zfunc/_shapo
      Any folder of zsh's will do: in ~/.zshrc, fpath+=~/.zfunc before compinit.
  shapo completion fish > ~/.config/fish/completions/shapo.fish
      From the next shell on, the tab key completes commands, options, environments, algorithms and figures.
"""
SHELLS = ("bash", "zsh", "fish")


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("shell", type=one_of(SHELLS), metavar="{bash,zsh,fish}", help="which one")


def run(options: argparse.Namespace) -> None:
    """Print the script."""
    import shtab

    print(shtab.complete(everything(), options.shell))


def everything() -> Parser:
    """One parser of all commands, in which every word that can be completed is a choice."""
    from shtab import FILE

    root = Parser(prog="shapo")
    root.add_argument("--version", action="store_true")
    commands = root.add_subparsers()
    for name, about in COMMANDS.items():
        parser = parser_of(name)
        commands.add_parser(name, help=about, parents=[parser], add_help=False)
        for action in parser._actions:
            action.choices = _words(action) or None
            action.metavar = None  # its colons and quotes would be zsh's own
            if action.type is Path:
                action.complete = FILE  # pyright: ignore[reportAttributeAccessIssue]
    return root


def _words(action: argparse.Action) -> list[str]:
    """What may stand there, as far as it can be listed."""
    from shapo.envs.registry import IDS
    from shapo.experiments.figures import FIGURES

    listed = {"env": list(IDS), "algo": list(get_args(Algo)), "names": ["all", "list", *FIGURES]}
    shown = str(action.metavar)
    few = shown[1:-1].split(",") if shown.startswith("{") else []
    return listed.get(action.dest, [word for word in few if word != OWN])
