"""What a trained policy is tried on: its own environment, or the one that the user names."""

from shapo.cli.parsing import Parser


def add_environment_options(parser: Parser) -> None:
    """Declare `--env` and `--cost`."""
    for name, what in (("env", "environment"), ("cost", "cost")):
        parser.add_argument(
            f"--{name}", default=None, metavar="NAME",
            help=f"the {what}, where the run was trained with one of your own (module:factory)",
        )  # fmt: skip
