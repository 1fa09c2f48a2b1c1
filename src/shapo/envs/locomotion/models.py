"""MuJoCo models of the robots, compiled from the installed Gymnasium's own files."""

import warnings
from pathlib import Path

import gymnasium
import mujoco

ASSETS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"


def load(xml: str) -> mujoco.MjModel:
    """The model in one of Gymnasium's files, number for number what Gymnasium itself loads."""
    spec = mujoco.MjSpec.from_file(str(ASSETS / xml))
    with warnings.catch_warnings():
        # half_cheetah.xml scales its mass in a way that MuJoCo 4 calls deprecated; it is Gymnasium's file to mend.
        warnings.simplefilter("ignore", UserWarning)
        return spec.compile()
