"""The commands of `shapo`, one file each.

`EXAMPLES` teach, `describe(parser)` declares the options, `run(options)` does the work. What a command needs beyond its
options it imports in `run`, so that `shapo --help` answers at once.
"""

import importlib
from argparse import Action
from types import ModuleType

from shapo.cli.parsing import Parser

COMMANDS = {
    "train": "train a policy",
    "compare": "train with and without SHAPO, over seeds, and show the difference",
    "sweep": "run a grid of experiments; what is unfinished is resumed",
    "tune": "search for good values of SHAPO's two numbers",
    "figure": "draw a figure or table of the paper",
    "study": "what our own runs say about the paper's claims",
    "repeat": "train a run again from its record: do the same numbers come out?",
    "runs": "list the runs there are, and verify their files",
    "report": "one HTML page about any number of runs",
    "archive": "put many finished runs into one small file, to publish and redraw",
    "evaluate": "measure a trained policy",
    "play": "film a trained policy",
    "export": "write a trained policy as ONNX, for use elsewhere",
    "bench": "measure speed: environments or whole training",
    "envs": "list the environments",
    "algos": "list the algorithms and gradient rules",
    "completion": "teach your shell to complete commands, options and names",
}


def module_of(name: str) -> ModuleType:
    """The file of a command."""
    return importlib.import_module(f"shapo.cli.commands.{name}")


def parser_of(name: str) -> Parser:
    """What a command understands, and its help."""
    command = module_of(name)
    parser = Parser(prog=f"shapo {name}", description=f"{COMMANDS[name]}\n\n{command.EXAMPLES}")
    command.describe(parser)
    parser.add_argument(
        "--debug", action="store_true", help="show where an error came from, not only what it is"
    )
    named = [_shown(action) for action in parser._actions if not action.option_strings]
    parser.usage = " ".join([parser.prog, *named, "[options]"])
    return parser


def _shown(positional: Action) -> str:
    several = " ..." if positional.nargs in ("+", "*") else ""
    shown = f"{positional.metavar}{several}"
    return f"[{shown}]" if positional.nargs in ("?", "*") else shown
