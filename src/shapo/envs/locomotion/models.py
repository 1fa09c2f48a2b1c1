"""MuJoCo models of the robots, compiled from the installed Gymnasium's own files."""

# MuJoCo's extension modules hide their names from a type checker.
# pyright: reportAttributeAccessIssue=false

import warnings
from pathlib import Path

import gymnasium
import mujoco

ASSETS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"


def load(xml: str) -> mujoco.MjModel:
    """The model in one of Gymnasium's files, number for number what Gymnasium itself loads."""
    spec = mujoco.MjSpec.from_file(str(ASSETS / xml))
    with warnings.catch_warnings():
        # half_cheetah.xml scales its mass in a way that MuJoCo 4 deprecates; it is not our file.
        warnings.simplefilter("ignore", UserWarning)
        return spec.compile()
