"""A batch of robots on one MjData.

Their states are the rows of one array, so that all but the physics is array arithmetic.
"""

# MuJoCo's extension modules hide their names from a type checker.
# pyright: reportAttributeAccessIssue=false

from collections.abc import Mapping
from typing import Any

import gymnasium
import mujoco
import numpy as np
from numpy.typing import NDArray

from shapo.envs.checks import checked_action, checked_state
from shapo.envs.locomotion import generators
from shapo.envs.locomotion.models import load
from shapo.envs.locomotion.tasks import HORIZON, TASKS
from shapo.envs.protocol import Step
from shapo.envs.rendering import Renderer

_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
_SAVED = ("physics", "rng", "elapsed", "place", "sensed")


def _columns(model: mujoco.MjModel, part: mujoco.mjtState) -> slice:
    """Where `part` lies in a state row: parts are laid out by increasing bit."""
    start = mujoco.mj_stateSize(model, _STATE & (int(part) - 1))
    return slice(start, start + mujoco.mj_stateSize(model, int(part)))


class Locomotion:
    """Robots of one task, number i equal to Gymnasium's v4 environment reset with `seed + i`."""

    num_costs = 1
    horizon = HORIZON

    def __init__(self, id: str, num_envs: int, seed: int = 0) -> None:
        self.id, self.num_envs = id, num_envs
        self.task = TASKS[id]
        self.robot = self.task.robot
        self.model = load(self.robot.xml)
        low, high = self.model.actuator_ctrlrange.T.astype(np.float32)
        self.action_space: gymnasium.spaces.Box[Any] = gymnasium.spaces.Box(
            low, high, dtype=np.float32
        )
        self.observation_space: gymnasium.spaces.Box[Any] = gymnasium.spaces.Box(
            -np.inf, np.inf, (self.robot.observations,), np.float64
        )
        # One MjData serves all: mj_step depends on nothing but the state that a row holds.
        self._data = mujoco.MjData(self.model)
        self._seconds = self.model.opt.timestep * self.robot.frame_skip
        self._start = self._data.qpos.copy()
        self._physics = np.zeros((num_envs, mujoco.mj_stateSize(self.model, _STATE)))
        self._rows = list(self._physics)
        self._qpos = self._physics[:, _columns(self.model, mujoco.mjtState.mjSTATE_QPOS)]
        self._qvel = self._physics[:, _columns(self.model, mujoco.mjtState.mjSTATE_QVEL)]
        self._ctrl = self._physics[:, _columns(self.model, mujoco.mjtState.mjSTATE_CTRL)]
        self._seen = self._qpos[:, self.robot.hidden :]
        self._root = self._qpos[:, :2]
        self._rng: list[np.random.Generator] = []
        self._elapsed = np.zeros(num_envs, np.int64)
        self._place = np.zeros((num_envs, 2))
        self._torso = self._data.xpos[1, :2]
        self._senses = [getattr(self._data, name).reshape(-1) for name in self.robot.senses]
        self._sensed = np.zeros((num_envs, sum(part.size for part in self._senses)))
        self._renderer: Renderer | None = None
        self.reset(seed)

    def reset(self, seed: int) -> NDArray[np.float64]:
        """Begin new episodes; environment i draws as after Gymnasium's `reset(seed=seed + i)`."""
        self._rng = [generators.seeded(seed + i) for i in range(self.num_envs)]
        for i in range(self.num_envs):
            self._begin(i)
        return self._observe()

    def step(self, action: NDArray) -> Step:
        """Apply `action` [n, act] for `frame_skip` physics steps."""
        action = checked_action(self.id, self.num_envs, self.action_space, action)
        before = self._place
        self._ctrl[:] = action
        self._advance()
        velocity = (self._place - before) / self._seconds

        robot = self.robot
        control = robot.control_weight * np.add.reduce(action * action, axis=1)
        reward = (robot.forward_weight * velocity[:, 0] + robot.alive_reward) - control
        self._elapsed += 1
        terminated = ~robot.healthy(self._qpos, self._qvel)
        truncated = self._elapsed >= HORIZON
        cost = self.task.cost(velocity, terminated)

        last_obs = self._observe()
        ended = terminated | truncated
        if not ended.any():
            return Step(last_obs.copy(), reward, cost, terminated, truncated, last_obs)
        for i in np.flatnonzero(ended):
            self._begin(int(i))
        return Step(self._observe(), reward, cost, terminated, truncated, last_obs)

    def get_state(self) -> dict[str, NDArray]:
        """Physics rows, generator words, elapsed steps, and what was measured in the last step."""
        return {
            "physics": self._physics.copy(),
            "rng": np.stack([generators.to_words(rng) for rng in self._rng]),
            "elapsed": self._elapsed.copy(),
            "place": self._place.copy(),
            "sensed": self._sensed.copy(),
        }

    def set_state(self, state: Mapping[str, NDArray]) -> NDArray[np.float64]:
        """Continue from `get_state()`'s answer."""
        checked_state(self.id, self.num_envs, state, _SAVED)
        self._physics[:] = state["physics"]
        self._rng = [generators.from_words(words) for words in state["rng"]]
        self._elapsed[:] = state["elapsed"]
        self._place = np.array(state["place"])
        self._sensed[:] = state["sensed"]
        return self._observe()

    def render(self, index: int = 0, width: int = 480, height: int = 480) -> NDArray[np.uint8]:
        """A picture of robot `index` by a camera that follows it."""
        if self._renderer is None:
            self._renderer = Renderer(self.model)
        mujoco.mj_setState(self.model, self._data, self._rows[index], _STATE)
        mujoco.mj_forward(self.model, self._data)
        camera = mujoco.MjvCamera()
        camera.type = mujoco.mjtCamera.mjCAMERA_TRACKING
        camera.trackbodyid = 1
        camera.distance, camera.elevation, camera.azimuth = 4.0, -20.0, 90.0
        return self._renderer.frame(self._data, camera, width, height)

    def close(self) -> None:
        """Free the picture maker, if there is one."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def _advance(self) -> None:
        """Step the physics of every row; a new `_place`, and `_sensed`, follow."""
        model, data, skip = self.model, self._data, self.robot.frame_skip
        lagging = self.robot.place != "root"
        if lagging:
            self._place = np.empty_like(self._place)
        for i, row in enumerate(self._rows):
            mujoco.mj_setState(model, data, row, _STATE)
            mujoco.mj_step(model, data, skip)
            mujoco.mj_getState(model, data, row, _STATE)
            if lagging:
                self._measure(i)
        if not lagging:
            self._place = self._root.copy()

    def _begin(self, i: int) -> None:
        """Start an episode of environment i, drawing in Gymnasium's order."""
        model, data, noise, rng = self.model, self._data, self.robot.noise, self._rng[i]
        mujoco.mj_resetData(model, data)
        data.qpos[:] = self._start + rng.uniform(-noise, noise, model.nq)
        if self.robot.velocity_noise == "normal":
            data.qvel[:] = noise * rng.standard_normal(model.nv)
        else:
            data.qvel[:] = rng.uniform(-noise, noise, model.nv)
        mujoco.mj_forward(model, data)
        mujoco.mj_getState(model, data, self._rows[i], _STATE)
        self._elapsed[i] = 0
        self._place[i] = self._root[i]
        self._measure(i, forces=False)

    def _measure(self, i: int, forces: bool = True) -> None:
        """Read what MuJoCo computed on the way for environment i: its place and its senses."""
        if self.robot.place == "torso":
            self._place[i] = self._torso
        elif self.robot.place == "mass":
            mass = self.model.body_mass
            self._place[i] = (np.einsum("b,bj->j", mass, self._data.xipos) / mass.sum())[:2]
        if self._senses:
            if forces:  # MuJoCo leaves external forces out of a step unless asked; a reset has none
                mujoco.mj_rnePostConstraint(self.model, self._data)
            np.concatenate(self._senses, out=self._sensed[i])

    def _observe(self) -> NDArray[np.float64]:
        """[n, obs] a fresh array."""
        bound = self.robot.velocity_bound
        velocity = self._qvel
        if bound < np.inf:
            velocity = np.minimum(np.maximum(velocity, -bound), bound)
        return np.concatenate([self._seen, velocity, self._sensed], axis=1)
