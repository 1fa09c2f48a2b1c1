"""Command lines of this package. What is wrong with one is a ValueError, which `shapo` prints."""

import argparse
from typing import NoReturn


class Arguments(argparse.ArgumentParser):
    """A parser that raises instead of leaving, and shows its examples as they are written."""

    def __init__(self, prog: str, description: str, examples: str = ""):
        layout = argparse.RawDescriptionHelpFormatter
        super().__init__(
            prog=prog, description=description, epilog=examples, formatter_class=layout
        )

    def error(self, message: str) -> NoReturn:
        """Say what is wrong."""
        raise ValueError(f"{message}; see {self.prog} --help")


def count(text: str) -> int:
    """An option's type: a whole number of at least one, which may be written 1e6."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not (number >= 1 and number.is_integer()):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(number)
