"""What a trained policy is tried on: its own environment, or the one that the user names."""

from shapo.cli.parsing import Parser


def add_env_option(parser: Parser) -> None:
    """Declare `--env`."""
    parser.add_argument(
        "--env",
        default="",
        metavar="NAME",
        help="the environment, where the run was trained on one of your own (module:factory)",
    )
