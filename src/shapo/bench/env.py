"""How fast an environment steps, as steps per second and as a fraction of its bare physics."""

# MuJoCo's extension modules hide their names from a type checker.
# pyright: reportAttributeAccessIssue=false

import itertools
import time
from collections.abc import Callable
from typing import Literal

import gymnasium
import mujoco
import numpy as np
from numpy.typing import NDArray

from shapo import envs
from shapo.envs.locomotion.env import Locomotion
from shapo.envs.locomotion.models import load
from shapo.experiment.names import of_family
from shapo.words import BadInput

Policy = Callable[[NDArray], NDArray]
_SLICE_SECONDS = 0.25
_STEPS_PER_LOOK = 20
"""So rarely is the clock looked at that looking costs nothing."""


def measure(
    id: str,
    seconds: float = 5.0,
    policy: Literal["random", "seek"] = "random",
    num_envs: int = 20,
    seed: int = 0,
) -> dict[str, float | str | int]:
    """Steps per second of one process on one core, resets included, beside `mj_step` alone.

    Seconds are the process's own CPU seconds, those of one core, so that other work on the machine
    does not count. Environment and bare physics take turns of a quarter second each. The bare
    physics is the task's full model under random controls, begun anew as often as the environment's
    episodes end.
    """
    if not seconds > 0:
        raise BadInput(f"seconds is {seconds:g}; it must be above 0")
    env = envs.make(id, num_envs, seed)
    act = _policy(env, policy, seed)
    obs = env.reset(seed)
    for _ in range(3):  # compiles what is compiled
        obs = env.step(act(obs)).obs
    steps, stepping, episodes = 0, 0.0, 0
    physics = _bare_physics(env, seed)
    while stepping < seconds:
        start = now = time.process_time()
        while now - start < _SLICE_SECONDS:
            step = env.step(act(obs))
            obs = step.obs
            steps += num_envs
            episodes += int(np.count_nonzero(step.terminated | step.truncated))
            now = time.process_time()
        stepping += now - start
        physics.run(_SLICE_SECONDS, episode_steps=max(1, steps // max(1, episodes)))
    env.close()
    ours, bare = steps / stepping, physics.steps / physics.seconds
    return {
        "env": id,
        "policy": policy,
        "num_envs": num_envs,
        "steps": steps,
        "episodes": episodes,
        "steps_per_second": ours,
        "bare_physics_steps_per_second": bare,
        "ratio": ours / bare,
    }


def _policy(env: envs.BatchEnv, name: str, seed: int) -> Policy:
    if name == "seek":
        # Loads a compiler, which nothing else here needs.
        from shapo.envs.navigation import seeker
        from shapo.envs.navigation.env import Navigation

        if not isinstance(env, Navigation):
            raise BadInput(f"{env.id}: there is nothing to seek; use the random policy")
        return seeker.policy(env)
    if name != "random":
        raise BadInput(f"unknown policy {name!r}; use random or seek")
    drawn = _random_actions(env.action_space, np.random.default_rng(seed), (256, env.num_envs))
    turn = itertools.cycle(drawn)
    return lambda obs: next(turn)


def _random_actions(
    space: gymnasium.spaces.Box | gymnasium.spaces.Discrete,
    rng: np.random.Generator,
    shape: tuple[int, ...],
) -> NDArray:
    if isinstance(space, gymnasium.spaces.Discrete):
        return rng.integers(space.start, space.start + space.n, shape)
    return rng.uniform(space.low, space.high, (*shape, *space.shape))


class _BarePhysics:
    """`mj_step` and nothing else, counted in environment steps."""

    def __init__(self, model: mujoco.MjModel, substeps: int, seed: int) -> None:
        self._model, self._substeps = model, substeps
        self._data = mujoco.MjData(model)
        low, high = model.actuator_ctrlrange.T
        controls = np.random.default_rng(seed).uniform(low, high, (256, model.nu))
        self._turn = itertools.cycle(controls)
        self._elapsed = 0
        self.steps, self.seconds = 0, 0.0

    def run(self, seconds: float, episode_steps: int) -> None:
        """Step for a while, from the model's initial state every `episode_steps` steps."""
        until = self.seconds + seconds
        while self.seconds < until:
            if self._elapsed >= episode_steps:
                mujoco.mj_resetData(self._model, self._data)
                self._elapsed = 0
            self._step(min(_STEPS_PER_LOOK, episode_steps - self._elapsed))

    def _step(self, count: int) -> None:
        model, data, substeps, turn = self._model, self._data, self._substeps, self._turn
        control = data.ctrl
        start = time.process_time()
        for _ in range(count):
            control[:] = next(turn)
            mujoco.mj_step(model, data, substeps)
        self.seconds += time.process_time() - start
        self.steps += count
        self._elapsed += count


def _bare_physics(env: envs.BatchEnv, seed: int) -> _BarePhysics:
    if isinstance(env, Locomotion):
        return _BarePhysics(load(env.robot.xml), env.robot.frame_skip, seed)
    if env.id in of_family("navigation"):
        # Loads a compiler, which locomotion need not wait for.
        from shapo.envs.navigation import models, tasks

        model = models.full_model(tasks.TASKS[env.id])
        return _BarePhysics(model, models.SUBSTEPS, seed)
    raise BadInput(f"{env.id}: only our own environments have a bare physics to compare with")
