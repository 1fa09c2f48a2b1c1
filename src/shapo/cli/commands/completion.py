"""`shapo completion`: a script that teaches a shell the commands, options and names.

Written from what the commands' own help says, so that there is nothing to keep in step.
"""

import argparse
import importlib
import pkgutil
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from shapo.cli import commands
from shapo.cli.parsing import Parser, one_of

EXAMPLES = """\
examples:
  shapo completion bash > ~/.local/share/bash-completion/completions/shapo
  shapo completion zsh > ~/.shapo-completion && echo 'source ~/.shapo-completion' >> ~/.zshrc
  shapo completion fish > ~/.config/fish/completions/shapo.fish
      From the next shell on, the tab key completes commands, options, environments, algorithms and figures.
"""
OPTION = re.compile(r"(--[a-z][a-z-]*)(?: \{([^}]*)\})?")
"""An option in a help text, and the words it takes if they are few."""


class Known(NamedTuple):
    """What may follow a command, and what may follow an option."""

    options: Mapping[str, list[str]]
    """By command."""
    values: Mapping[str, list[str]]
    """By option, where only certain words make sense."""
    names: Mapping[str, list[str]]
    """By command, where it is followed by a name."""


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("shell", type=one_of(list(SCRIPTS)), metavar="{bash,zsh,fish}")


def run(options: argparse.Namespace) -> None:
    """Print the script."""
    print(SCRIPTS[options.shell](known()))


def known() -> Known:
    """All that can be completed."""
    from shapo.envs.registry import IDS
    from shapo.experiments.figures import FIGURES

    options, values = {}, {"--env": list(IDS)}
    for command, text in _help_texts().items():
        found = OPTION.findall(text.partition("options:")[2])
        options[command] = sorted({name for name, _ in found})
        values |= {
            name: [word for word in words.split(",") if ":" not in word]
            for name, words in found
            if words
        }
    names = {"figure": ["all", "list", *FIGURES], "bench": ["env", "train"], "completion": list(SCRIPTS)}  # fmt: skip
    return Known(options, values, names)


def _help_texts() -> dict[str, str]:
    texts = {}
    for name in sorted(module.name for module in pkgutil.iter_modules(commands.__path__)):
        parser = Parser(prog=f"shapo {name}")
        importlib.import_module(f"shapo.cli.commands.{name}").describe(parser)
        texts[name] = parser.format_help()
    return texts


def _bash(known: Known) -> str:
    values = "\n".join(
        f'    {option}) COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$word")); return ;;'
        for option, words in known.values.items()
    )
    after = "\n".join(
        f'    {command}) options="{" ".join(words)}" names="{_spaced(known.names.get(command))}" ;;'
        for command, words in known.options.items()
    )
    return f"""\
_shapo() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} options="" names=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{_spaced(known.options)} --help --version" -- "$word"))
    return
  fi
  case "$before" in
{values}
  esac
  case "${{COMP_WORDS[1]}}" in
{after}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$names" -- "$word")) ;;
  esac
}}
complete -o default -F _shapo shapo"""


def _zsh(known: Known) -> str:
    return "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n" + _bash(known)


def _fish(known: Known) -> str:
    lines = [f"complete -c shapo -n __fish_use_subcommand -f -a '{_spaced(known.options)}'"]
    for command, options in known.options.items():
        seen = f"complete -c shapo -n '__fish_seen_subcommand_from {command}'"
        if command in known.names:
            lines.append(f"{seen} -f -a '{_spaced(known.names[command])}'")
        for option in options:
            words = known.values.get(option)
            takes = f" -x -a '{_spaced(words)}'" if words else ""
            lines.append(f"{seen} -l {option.removeprefix('--')}{takes}")
    return "\n".join(lines)


def _spaced(words: Iterable[str] | None) -> str:
    return " ".join(words or ())


SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
