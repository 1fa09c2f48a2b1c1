"""What a trained policy is tried on: its own environment, or the one that the user names."""

from typing import TYPE_CHECKING

from shapo.cli.parsing import Parser

if TYPE_CHECKING:
    from shapo.rollout.task import Task
    from shapo.runs.folder import Run


def add_env_option(parser: Parser) -> None:
    """Declare `--env`."""
    parser.add_argument(
        "--env",
        default="",
        metavar="NAME",
        help="the environment, where the run was trained on one of your own (module:factory)",
    )


def task_of(run: "Run", named: str) -> "Task":
    """The task of a run, or the same with the environment that the user has named.

    A folder may come from anywhere, so the code that it names is imported only if the user names it, too.
    """
    from shapo.rollout.task import Task, named_factory

    if not named and ("env" in run.custom or ":" in run.environment):
        raise ValueError(
            f"{run.folder} was trained on an environment of its own, {run.environment}; if it is yours, name it: "
            "--env module:factory, looked for where the command is given"
        )
    factory = named_factory(named)
    return Task(
        run.experiment if factory or not named else run.experiment.replace(env=named), factory
    )
