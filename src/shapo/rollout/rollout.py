"""The parent's side of collecting: has the workers make batches, and takes them."""

import functools
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import numpy as np

from shapo.envs.protocol import Wrapper
from shapo.envs.states import joined
from shapo.rollout.acting import Actor
from shapo.rollout.blueprint import Blueprint
from shapo.rollout.crew import PATIENCE, Crew, pickled
from shapo.rollout.messages import (
    Collect,
    Collected,
    Reset,
    Restore,
    Spec,
    State,
    Wrap,
)
from shapo.rollout.processes import WorkerProcess
from shapo.rollout.sharing import SLOTS
from shapo.types import Batch, Episodes


class Experience(NamedTuple):
    """One iteration's yield."""

    batch: Batch
    """In shared memory: valid until the collection after the next begins."""
    episodes: Episodes
    state: State
    """Of every environment at the end of the batch: what a resumed training starts from."""


class Rollout:
    """Environments in worker processes. A context manager: however it is left, no process or memory stays behind."""

    def __init__(self, blueprint: Blueprint, log: Path, patience: float = PATIENCE):
        """Start the workers and return at once; `spec` waits for them. `log` gets what they print."""
        self._crew = Crew(blueprint, log, patience)
        self._env = blueprint.experiment.env
        self._wrapped: Spec | None = None
        self._slot = 0

    @functools.cached_property
    def bare(self) -> Spec:
        """What the environments are like by themselves; the first look waits until every worker has built its own."""
        return self._crew.first_answers()[0]

    def wrap(self, wrapper: Wrapper) -> None:
        """Change the environments to what an algorithm wants; only before the first look at `spec`."""
        assert self.bare and "spec" not in vars(self)
        described = pickled(wrapper, self._env)
        self._wrapped = self._crew.ask(lambda worker: Wrap(described))[0]

    @functools.cached_property
    def spec(self) -> Spec:
        """What the environments are like as the algorithm sees them; the first look makes room for batches of it."""
        spec = self._wrapped or self.bare
        self._crew.allocate(spec)
        return spec

    def reset(self) -> None:
        """Begin the training's episodes."""
        self._crew.ask(lambda worker: Reset())

    def restore(self, state: State) -> None:
        """Continue from an `Experience.state`."""

        def own(worker: WorkerProcess) -> Restore:
            return Restore({k: v[worker.envs.start : worker.envs.stop] for k, v in state.items()})

        self._crew.ask(own)

    def begin(self, iteration: int, actor: Actor) -> None:
        """Have the workers collect a batch with `actor`, and return at once."""
        self._slot = iteration % SLOTS
        self._crew.tell(lambda worker: Collect(actor, iteration, self._slot))

    def finish(self) -> Experience:
        """Wait for the batch begun last."""
        assert self._crew.shared is not None
        parts: list[Collected] = self._crew.answers()
        episodes = Episodes._make(
            map(np.concatenate, zip(*(part.episodes for part in parts), strict=True))
        )
        order = np.lexsort((episodes.env, episodes.step))
        state = {name: joined([part.state[name] for part in parts]) for name in parts[0].state}
        return Experience(
            self._crew.shared.batches[self._slot],
            Episodes._make(field[order] for field in episodes),
            state,
        )

    def close(self) -> None:
        """End every worker, have its environments closed, and free the shared memory."""
        self._crew.close()

    def __enter__(self) -> "Rollout":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:  # fmt: skip
        self.close()
