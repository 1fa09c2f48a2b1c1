"""The training loop: collect, learn, record; and going on exactly where a run was stopped.

One iteration in time (the critics are needed only for the *next* batch's advantages, so fitting them overlaps with
collecting it, and the result is the same as if it did not):

    workers   │ collect k      │ idle    │ collect k+1              │
    learner   │ fit k−1, write │ improve │ fit k, write             │
"""

import contextlib
import dataclasses
import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from shapo.envs.registry import canonical
from shapo.experiment import Experiment
from shapo.experiment.describing import name_of, really
from shapo.experiment.extensions import IN_ALGO, require_named
from shapo.experiment.idle import chosen, idle_among
from shapo.rollout.blueprint import Blueprint, EnvFactory
from shapo.rollout.crew import PATIENCE, RolloutError
from shapo.rollout.rollout import Rollout
from shapo.runs.checkpoints import Checkpoint, joined
from shapo.runs.folder import Run
from shapo.runs.ledger import Ledger
from shapo.runs.policies import TrainedPolicy
from shapo.runs.recorders import Recorder, TensorBoard
from shapo.runs.resuming import Start, extend, how_to_continue, where_to_go_on
from shapo.runs.screen import progress
from shapo.runs.stopping import held_back, sigterm_raises
from shapo.runs.stopwatch import Stopwatch
from shapo.runs.writing import RunWriter
from shapo.words import BadInput, folder_name

if TYPE_CHECKING:
    from shapo.algorithms import Algorithm

MakeRecorders = Callable[[Run, int], list[Recorder]]
"""Given the run and the first iteration that will be recorded."""


class TrainingError(RuntimeError):
    """A training that ended before its time; the message says why and how to go on."""


class Watch(Protocol):
    """Whoever wants to see each iteration as it comes."""

    def __call__(self, row: Mapping[str, float]) -> None:
        """Look at one row of `progress.csv`."""
        ...


def default_folder(experiment: Experiment) -> Path:
    """Where a run goes unless told otherwise."""
    names = (experiment.env, experiment.algo, experiment.gradient)
    short = [name.partition("(")[0] for name in names if name != IN_ALGO]
    return Path("runs") / folder_name("-".join([*short, f"seed{experiment.seed}"]))


def tensorboard(run: Run, first_iteration: int) -> list[Recorder]:
    """Event files in the run's folder."""
    return [TensorBoard(run.folder / "tensorboard", first_iteration)]


def train(
    experiment: Experiment,
    out: str | os.PathLike | None = None,
    *,
    env: EnvFactory | None = None,
    algorithm: "Algorithm | None" = None,
    resume: bool = False,
    watch: Watch | None = None,
    quiet: bool = False,
    recorders: MakeRecorders = tensorboard,
    patience: float = PATIENCE,
) -> Run:
    """Train a policy and return the finished run.

    Args:
        experiment: Every choice; those that are not made are as published.
        out: The run's folder; by default under `runs/`, named after the experiment.
        env: Your own environment, as a factory that `shapo.envs.make` accepts, instead of `experiment.env`. The run
            records its name, `module:factory`, or says that it was an object without one.
        algorithm: Your own algorithm, or one of `shapo.algorithms` around a gradient rule or objective of yours,
            instead of the one that `experiment` names; recorded likewise.
        resume: Continue the run in `out`, bit for bit; where `experiment` has more steps than it, beyond its end.
        watch: Called with each iteration's row, once it is on disk; what it raises stops the run, which can be resumed.
        quiet: Show nothing, nor name choices that do nothing; otherwise a terminal gets a live panel, a notebook a line
            now and then.
        recorders: Where else rows go, given the run and the first iteration; TensorBoard by default.
        patience: Seconds without an environment step after which an environment counts as stuck.
    """
    asked, experiment = experiment, really(experiment, env, algorithm)
    require_named(experiment.names())
    if not patience > 0:
        raise BadInput(f"patience is {patience:g} seconds; it must be above 0")
    folder = Path(out) if out is not None else default_folder(experiment)
    if resume:
        run = Run.open(folder)
        run.require_same(experiment)
    else:
        if env is None:
            canonical(experiment.env)
        _say_if_rounded(experiment)
        if not quiet:
            _say_if_idle(asked, experiment)
        run = Run.create(folder, experiment)
    with run.locked(), sigterm_raises():
        if experiment.steps > run.experiment.steps:
            extend(run, experiment.steps)
        run = dataclasses.replace(run, experiment=experiment)  # its own are names that a file gives
        start = where_to_go_on(run) if resume else Start(None, False, [])
        for note in start.notes:
            warnings.warn(note, stacklevel=2)
        if start.finished:
            return run
        run.forget_failure()
        try:
            with (
                progress(experiment, quiet) as show,
                Rollout(Blueprint(experiment, env), run.log, patience) as rollout,
            ):
                watches = [each for each in (show, watch) if each]
                _iterate(run, start.checkpoint, rollout, algorithm, watches, recorders)
        except Exception as error:
            gone = not resume and run.discard(keep_log=isinstance(error, RolloutError))
            if not isinstance(error, RolloutError | OSError):
                raise
            reason = error
            if isinstance(error, OSError) and error.strerror:  # other libraries' may be mere text
                reason = f"{error.strerror}: {error.filename or folder}"
            advice = "" if gone else _how_to_go_on(folder, experiment)
            raise TrainingError(f"{reason}{advice}") from error
    return run


def _say_if_rounded(experiment: Experiment) -> None:
    trained = experiment.iterations * experiment.batch_steps
    if trained != experiment.steps:
        warnings.warn(
            f"steps is {experiment.steps:,}, and {trained:,} will be trained: batches are whole, "
            f"{experiment.num_envs} num_envs x {experiment.steps_per_env:,} steps_per_env",
            stacklevel=3,
        )


def _say_if_idle(asked: Experiment, experiment: Experiment) -> None:
    # Asked before an environment or an algorithm was passed, which have nothing published.
    for name, needed in idle_among(chosen(asked), [experiment]).items():
        warnings.warn(f"{name} does nothing here: it needs {needed}", stacklevel=3)


def _how_to_go_on(folder: Path, experiment: Experiment) -> str:
    return f"; in Python go on with resume=True, or continue with: {how_to_continue(folder, experiment)}"


def _iterate(
    run: Run,
    checkpoint: Checkpoint | None,
    rollout: Rollout,
    algorithm: "Algorithm | None",
    watches: Sequence[Watch],
    recorders: MakeRecorders,
) -> None:
    # Here and not above: importing JAX takes as long as the workers need to start, and both can happen at once.
    with held_back():  # for its import is not one that can be left: it would abort
        from shapo.learning import compiling, recipes
        from shapo.learning.learner import Learner
        from shapo.learning.leaves import flatten, not_finite, unflatten

    compiling.prepare()
    experiment = run.experiment
    if algorithm is None:
        algorithm = recipes.algorithm(experiment, rollout.bare.actions.size)
    algorithm = recipes.require_algorithm(algorithm)
    wrapper = name_of(algorithm.environment) if algorithm.environment else ""
    if algorithm.environment:
        rollout.wrap(algorithm.environment)
    spec = rollout.spec
    for note in spec.notes:
        warnings.warn(note, stacklevel=3)
    learner = Learner.build(
        experiment, spec.observation, spec.actions.size, spec.costs, algorithm, spec.actions.choices
    )
    # Within JAX, what is raised from outside is lost now and then, or turns into another error.
    improve, fit = held_back()(learner.improve), held_back()(learner.fit)
    ledger = Ledger(experiment)
    if checkpoint:
        first, elapsed = checkpoint.iteration + 1, float(checkpoint.facts["seconds"])
        state = unflatten(learner.init(experiment.seed), checkpoint.part("learner"))
        ledger.set_state(checkpoint.part("ledger"))
        rollout.restore(checkpoint.part("rollout"))
    else:
        first, elapsed = 0, 0.0
        state = learner.init(experiment.seed)
        rollout.reset()
    rollout.begin(first, learner.actor(state))
    with contextlib.ExitStack() as stack:
        writer = stack.enter_context(contextlib.closing(RunWriter(run, checkpoint)))
        records = [stack.enter_context(contextlib.closing(each)) for each in recorders(run, first)]
        clock = Stopwatch(elapsed)
        for iteration in range(first, experiment.iterations):
            experience = rollout.finish()
            clock.lap("wait")
            ledger.add(experience.batch, experience.episodes)
            state, todo, metrics = improve(state, experience.batch, *ledger.told())
            # Where a slope is not finite no step is taken: the policy is as it was, and would stay so for ever.
            lost = not math.isfinite(metrics.get("policy/residual", 0.0))
            _require(iteration, "slope", "policy/residual" if lost else None)
            _require(iteration, "policy", not_finite(state.policy))
            actor = learner.actor(state)
            if iteration + 1 < experiment.iterations:
                rollout.begin(iteration + 1, actor)
            clock.lap("actor")
            state, fit_metrics = fit(state, todo)
            _require(iteration, "learner's state", not_finite(state))
            measured = {name: float(value) for name, value in {**metrics, **fit_metrics}.items()}
            clock.lap("critics")
            row = {**ledger.row(iteration), **measured, **clock.row(experiment.batch_steps)}
            # First, because a resumed run can hide what was recorded too early, but not make up for what was not.
            for record in records:
                record.record(row)
            writer.write(
                row,
                ledger.episode_rows(iteration, experience.episodes),
                joined(learner=flatten(state), ledger=ledger.get_state(), rollout=experience.state),
                {"seconds": repr(clock.elapsed)},
                TrainedPolicy(actor, spec.actions, spec.env, wrapper),
            )
            for watch in watches:
                watch(row)
            clock.lap("rest")
        writer.finish()


def _require(iteration: int, what: str, not_finite: str | None) -> None:
    """Publish and write nothing that is not finite: whoever went on from it would never recover."""
    if not_finite:
        raise TrainingError(
            f"the {what} is no longer finite after iteration {iteration} ({not_finite.lstrip('.')}); what was written "
            "before stays as it is, but the same choices lead here again: look at learning rates and at the size of "
            "rewards and costs"
        )
