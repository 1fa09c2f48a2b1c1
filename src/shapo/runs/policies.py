"""A trained policy on disk and in use: NumPy alone, raw observations in, the environment's actions out."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shapo.rollout.acting import ActionScale, Actor, Forward
from shapo.runs.files import Damaged, pack, unpack, write_atomically
from shapo.words import BadInput

FILE = "policy.safetensors"


@dataclass(frozen=True)
class Policy:
    """Maps observations to actions."""

    actor: Actor
    scale: ActionScale
    env: str
    """The environment it was trained on."""
    wrapper: str = ""
    """The name of what its algorithm made of that environment, such as Sauté's budget; empty: nothing."""
    experiment: str = ""
    """What else decided how it was trained, as `shapo.runs.origin` remembers it."""

    def __repr__(self) -> str:
        widths = [self.observation_size, *(len(bias) for bias in self.actor.biases)]
        return f"Policy({self.env}, {' → '.join(map(str, widths))})"

    @property
    def observation_size(self) -> int:
        """Numbers per observation; a Sauté policy's last one is the share of the safety budget that is left."""
        return len(self.actor.mean)

    def act(self, obs: NDArray, rng: np.random.Generator | None = None) -> NDArray[np.float64]:
        """The action for a raw observation [O] or for several [n, O]: the mean, or a sample where `rng` is given."""
        obs = np.asarray(obs, np.float32)
        if obs.ndim not in (1, 2) or obs.shape[-1] != self.observation_size:
            raise BadInput(
                f"the policy for {self.env} acts on observations of {self.observation_size} numbers, "
                f"not on an array of shape {obs.shape}"
            )
        rows = np.atleast_2d(obs)
        action = Forward(self.actor, len(rows))(rows)
        if rng is not None:
            noise = rng.standard_normal(action.shape, np.float32)
            action = action + noise * np.exp(self.actor.log_std)
        return self.scale.apply(action.reshape(*obs.shape[:-1], -1))

    def save(self, path: Path) -> None:
        """Write a file that `load` reads."""
        layers = zip(self.actor.weights, self.actor.biases, strict=True)
        arrays = {
            f"{kind}.{i}": array
            for i, layer in enumerate(layers)
            for kind, array in zip(("weight", "bias"), layer, strict=True)
        }
        arrays |= {name: getattr(self.actor, name) for name in ("log_std", "mean", "scale")}
        arrays |= {"action.offset": self.scale.offset, "action.factor": self.scale.factor}
        facts = {"env": self.env, "wrapper": self.wrapper, "experiment": self.experiment}
        write_atomically(path, pack(arrays, facts))


def load(run: str | os.PathLike) -> Policy:
    """The policy of a run: its folder, or the policy file itself."""
    path = Path(run)
    path = path / FILE if path.is_dir() else path
    if not path.exists():
        raise BadInput(f"{path} does not exist; a run writes it after its first iteration")
    arrays, facts = unpack(path)
    try:
        return _policy(arrays, facts)
    except KeyError as error:
        raise Damaged(f"{path} is no policy ({error.args[0]} is missing)") from None
    except ValueError as error:
        raise Damaged(f"{path} is no policy ({error})") from None


def _policy(arrays: Mapping[str, NDArray], facts: Mapping[str, str]) -> Policy:
    """The policy that is in a file; KeyError or ValueError if there is none."""
    depth = sum(name.startswith("weight.") for name in arrays)
    inputs, outputs = arrays["mean"].size, arrays["log_std"].size
    widths = [inputs, *(arrays[f"bias.{i}"].size for i in range(depth))]
    shapes = {f"weight.{i}": (widths[i], widths[i + 1]) for i in range(depth)}
    shapes |= {f"bias.{i}": (widths[i + 1],) for i in range(depth)}
    shapes |= {"mean": (inputs,), "scale": (inputs,), "log_std": (outputs,)}
    shapes |= {"action.offset": (outputs,), "action.factor": (outputs,)}
    if not depth or widths[-1] != outputs:
        raise BadInput(f"its layers end with {widths[-1]} numbers, its actions have {outputs}")
    for name, shape in shapes.items():
        kind = np.float64 if name.startswith("action.") else np.float32
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
        log_std=arrays["log_std"],
        mean=arrays["mean"],
        scale=arrays["scale"],
    )
    scale = ActionScale(arrays["action.offset"], arrays["action.factor"])
    return Policy(actor, scale, env, wrapper, facts.get("experiment", ""))
