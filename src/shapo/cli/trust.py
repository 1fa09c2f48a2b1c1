"""A run's folder is data: code that it names is imported only if whoever gives the command names the same."""

from shapo.rollout.task import EnvFactory, named_factory
from shapo.runs.folder import Run
from shapo.words import BadInput


def trusted_environment(run: Run, typed: str | None) -> EnvFactory | None:
    """What was passed as the environment when the run was begun in Python; None if the experiment names it.

    Raises BadInput unless an environment that is code is named `typed` as well.
    """
    recorded = run.custom.get("env", run.experiment.env)
    if typed not in (None, recorded, run.experiment.env):
        raise BadInput(f"{run.folder} was trained on {recorded}, not on {typed}")
    if ":" in recorded and typed != recorded:
        raise BadInput(
            f"{run.folder} was trained on {recorded}, which is code and not imported because a folder says so; "
            f"if it is yours, add --env {recorded}"
        )
    return named_factory(recorded) if "env" in run.custom else None
