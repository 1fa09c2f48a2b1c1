"""Single environments with six values per step."""

from typing import Any

import gymnasium

from shapo.envs.gymnasium_out import NAMESPACE
from shapo.envs.registry import IDS, UnknownEnvironment, canonical
from shapo.envs.safety_gymnasium.wrappers import Gymnasium2SafetyGymnasium, SafeAutoResetWrapper

IGNORED = ("disable_env_checker", "apply_api_compatibility", "camera_name", "camera_id")
"""Options of theirs that have no counterpart here: there is one camera, and nothing to check or convert."""


def make(
    id: str,
    autoreset: bool | None = None,
    max_episode_steps: int | None = None,
    render_mode: str | None = None,
    **options: Any,
) -> gymnasium.Env:
    """One environment with six values per step; with `autoreset`, one that begins anew by itself.

    `width` and `height` are options, of pictures. Those of Safety-Gymnasium's for checkers and cameras are ignored.
    """
    env = Gymnasium2SafetyGymnasium(
        gymnasium.make(
            NAMESPACE + task(id),
            max_episode_steps=max_episode_steps,
            disable_env_checker=True,
            render_mode=render_mode,
            **kept(options),
        )
    )
    return SafeAutoResetWrapper(env) if autoreset else env


def task(id: str) -> str:
    """The environment of ours that `id` means; UnknownEnvironment if there is none."""
    known = canonical(id)
    if known not in IDS:
        raise UnknownEnvironment(f"{id} is none of ours (`shapo envs` lists them)")
    return known


def kept(options: dict[str, Any]) -> dict[str, Any]:
    """The options that mean something here."""
    return {name: value for name, value in options.items() if name not in IGNORED}
