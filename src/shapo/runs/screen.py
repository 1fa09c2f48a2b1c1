"""What suits whoever looks: a live panel on a terminal, plain lines elsewhere, nothing where nobody does."""

import builtins
import contextlib
import sys
from typing import TYPE_CHECKING

from shapo.experiment import Experiment
from shapo.runs.lines import Among, PlainLines

if TYPE_CHECKING:
    from shapo.runs.panel import LivePanel


def screen(experiment: Experiment, among: Among | None = None) -> "LivePanel | PlainLines":
    """What suits standard output: a context manager, called with each row."""
    if not sys.stdout.isatty():
        return PlainLines(experiment, sys.stdout, among)
    from rich.console import Console

    from shapo.runs.panel import LivePanel

    return LivePanel(experiment, Console(), among)


def progress(
    experiment: Experiment, quiet: bool
) -> "LivePanel | PlainLines | contextlib.nullcontext[None]":
    """What suits a training that was begun in Python: as `screen`, but nothing where nobody looks."""
    if quiet or not (sys.stdout.isatty() or _in_notebook()):
        return contextlib.nullcontext()
    if not sys.stdout.isatty():
        print("starting the environments and compiling …", flush=True)
    return screen(experiment)


def _in_notebook() -> bool:
    if not hasattr(builtins, "get_ipython"):  # nor need anything be loaded to know
        return False
    from rich.console import Console

    return Console().is_jupyter
