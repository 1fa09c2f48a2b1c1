"""A trained policy on disk and in use: NumPy alone, raw observations in, the environment's actions out."""

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shapo.rollout.acting import Actor, Forward
from shapo.rollout.actions import Actions, ActionScale, Choices
from shapo.runs.absent import in_archive, no_policy
from shapo.runs.files import Damaged, pack, unpack, write_atomically
from shapo.words import BadInput

FILE = "policy.safetensors"


@dataclass(frozen=True)
class TrainedPolicy:
    """Maps observations to actions."""

    actor: Actor
    actions: Actions
    env: str
    """The environment it was trained on."""
    wrapper: str = ""
    """The name of what its algorithm made of that environment, such as Sauté's budget; empty: nothing."""
    experiment: str = ""
    """What else decided how it was trained, as `shapo.runs.origin` remembers it."""

    def __repr__(self) -> str:
        widths = [self.observation_size, *(len(bias) for bias in self.actor.biases)]
        return f"TrainedPolicy({self.env}, {' → '.join(map(str, widths))})"

    @property
    def observation_size(self) -> int:
        """Numbers per observation; a Sauté policy's last one is the share of the safety budget that is left."""
        return len(self.actor.mean)

    def act(self, obs: NDArray, rng: np.random.Generator | None = None) -> NDArray:
        """The action for a raw observation [O] or for several [n, O]: a sample where `rng` is given, else the mean.

        Choices have no mean: theirs is the likeliest.
        """
        obs = np.asarray(obs, np.float32)
        if obs.ndim not in (1, 2) or obs.shape[-1] != self.observation_size:
            raise BadInput(
                f"the policy for {self.env} acts on observations of {self.observation_size} numbers, "
                f"not on an array of shape {obs.shape}"
            )
        rows = np.atleast_2d(obs)
        noise = 0.0 if rng is None else self.actions.noise(self.actor, rng, len(rows))
        action = np.empty((len(rows), self.actions.size), np.float32)
        self.actions.choose(Forward(self.actor, len(rows))(rows), noise, action)
        return self.actions.apply(action.reshape(*obs.shape[:-1], -1))

    def save(self, path: Path) -> None:
        """Write a file that `load` reads."""
        layers = zip(self.actor.weights, self.actor.biases, strict=True)
        arrays = {
            f"{kind}.{i}": array
            for i, layer in enumerate(layers)
            for kind, array in zip(("weight", "bias"), layer, strict=True)
        }
        arrays |= {"mean": self.actor.mean, "scale": self.actor.scale}
        match self.actions:
            case ActionScale(offset, factor):
                assert self.actor.log_std is not None
                arrays |= {"log_std": self.actor.log_std}
                arrays |= {"action.offset": offset, "action.factor": factor}
            case Choices(choices, start):
                arrays |= {"action.choices": np.array(choices), "action.start": np.array(start)}
        facts = {"env": self.env, "wrapper": self.wrapper, "experiment": self.experiment}
        write_atomically(path, pack(arrays, facts))


def load(run: str | os.PathLike) -> TrainedPolicy:
    """The policy of a run: its folder, or the policy file itself."""
    path = Path(run)
    path = path / FILE if path.is_dir() else path
    if in_archive(path) or not path.exists():
        raise BadInput(no_policy(Path(run)))
    arrays, facts = unpack(path)
    try:
        return _policy(arrays, facts)
    except KeyError as error:
        raise Damaged(f"{path} is no policy ({error.args[0]} is missing)") from None
    except ValueError as error:
        raise Damaged(f"{path} is no policy ({error})") from None


def _policy(arrays: Mapping[str, NDArray], facts: Mapping[str, str]) -> TrainedPolicy:
    """The policy that is in a file; KeyError or ValueError if there is none."""
    depth = sum(name.startswith("weight.") for name in arrays)
    chooses = "action.choices" in arrays
    outputs = arrays["action.choices"].item() if chooses else arrays["log_std"].size
    widths = [arrays["mean"].size, *(arrays[f"bias.{i}"].size for i in range(depth))]
    if not depth or widths[-1] != outputs:
        raise BadInput(f"its layers end with {widths[-1]} numbers, its actions have {outputs}")
    for name, (kind, shape) in _expected(widths, chooses).items():
        if arrays[name].dtype != kind or arrays[name].shape != shape:
            found = f"{arrays[name].dtype}{arrays[name].shape}"
            raise BadInput(f"{name} is {found}, not {np.dtype(kind)}{shape}")
        if not np.isfinite(arrays[name]).all():
            raise BadInput(f"{name} is not finite")
    env, wrapper = facts["env"], facts.get("wrapper", "")
    if not (env + wrapper).isprintable():
        raise BadInput("its names have letters that cannot be printed")
    actor = Actor(
        weights=tuple(arrays[f"weight.{i}"] for i in range(depth)),
        biases=tuple(arrays[f"bias.{i}"] for i in range(depth)),
        log_std=None if chooses else arrays["log_std"],
        mean=arrays["mean"],
        scale=arrays["scale"],
    )
    if chooses:
        actions = Choices(outputs, arrays["action.start"].item())
    else:
        actions = ActionScale(arrays["action.offset"], arrays["action.factor"])
    return TrainedPolicy(actor, actions, env, wrapper, facts.get("experiment", ""))


def _expected(widths: Sequence[int], chooses: bool) -> dict[str, tuple[type, tuple[int, ...]]]:
    """What is in a file: type and shape of each array."""
    inputs, outputs = (widths[0],), (widths[-1],)
    shapes: dict[str, tuple[int, ...]] = {"mean": inputs, "scale": inputs}
    for i, layer in enumerate(itertools.pairwise(widths)):
        shapes |= {f"weight.{i}": layer, f"bias.{i}": layer[1:]}
    if chooses:
        own = {"action.choices": (np.int64, ()), "action.start": (np.int64, ())}
    else:
        own = {"action.offset": (np.float64, outputs), "action.factor": (np.float64, outputs)}
        shapes |= {"log_std": outputs}
    return {name: (np.float32, shape) for name, shape in shapes.items()} | own
