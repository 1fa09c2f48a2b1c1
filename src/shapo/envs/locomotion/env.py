"""A batch of robots. Their states are the rows of one array, so that all but the physics is array arithmetic."""

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
from shapo.envs.locomotion.physics import physics_of, rows_of
from shapo.envs.locomotion.tasks import HORIZON, TASKS
from shapo.envs.protocol import Step
from shapo.envs.rendering import Renderer
from shapo.words import BadInput

_SAVED = ("physics", "rng", "elapsed", "place", "sensed")


class Locomotion:
    """Robots of one task, number i equal to Gymnasium's v4 environment reset with `seed + i`."""

    num_costs = 1
    horizon = HORIZON

    def __init__(self, id: str, num_envs: int, seed: int = 0) -> None:
        self.id, self.num_envs = id, num_envs
        self.task = TASKS[id]
        self.robot = self.task.robot
        self._rows = rows_of(self.robot, num_envs)
        self._physics = physics_of(self.robot, self._rows)
        self.model = self._rows.model
        low, high = self.model.actuator_ctrlrange.T.astype(np.float32)
        self.action_space: gymnasium.spaces.Box[Any] = gymnasium.spaces.Box(
            low, high, dtype=np.float32
        )
        self.observation_space: gymnasium.spaces.Box[Any] = gymnasium.spaces.Box(
            -np.inf, np.inf, (self.robot.observations,), np.float64
        )
        self._seconds = self.model.opt.timestep * self.robot.frame_skip
        self._state = self._rows.state
        self._start = self._state[0].copy()
        self._qpos, self._qvel, self._ctrl = map(self._rows.bind, ("qpos", "qvel", "ctrl"))
        self._seen = self._qpos[:, self.robot.hidden :]
        self._rng: list[np.random.Generator] = []
        self._elapsed = np.zeros(num_envs, np.int64)
        self._place = self._physics.place()
        self._renderer: Renderer | None = None
        self.reset(seed)

    def reset(self, seed: int | None) -> NDArray[np.float64]:
        """Begin new episodes; environment i draws as after Gymnasium's `reset(seed=seed + i)`, or `reset()`."""
        if seed is not None:
            if seed < 0:
                raise BadInput(f"{self.id}: seed must be at least 0, got {seed}")
            self._rng = [generators.seeded(seed + i) for i in range(self.num_envs)]
        self._begin(np.arange(self.num_envs, dtype=np.int32))
        return self._observe()

    def step(self, action: NDArray) -> Step:
        """Apply `action` [n, act] for `frame_skip` physics steps."""
        action = checked_action(self.id, self.num_envs, self.action_space, action)
        before = self._place
        self._ctrl[:] = action
        self._physics.step()
        self._place = self._physics.place()
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
        self._begin(np.flatnonzero(ended).astype(np.int32))
        return Step(self._observe(), reward, cost, terminated, truncated, last_obs)

    def get_state(self) -> dict[str, NDArray]:
        """Physics rows, generator words, elapsed steps, and what was measured in the last step."""
        return {
            "physics": self._state.copy(),
            "rng": np.stack([generators.to_words(rng) for rng in self._rng]),
            "elapsed": self._elapsed.copy(),
            "place": self._place.copy(),
            "sensed": self._physics.sensed.copy(),
        }

    def set_state(self, state: Mapping[str, NDArray]) -> NDArray[np.float64]:
        """Continue from `get_state()`'s answer."""
        checked_state(self.id, self.num_envs, state, _SAVED)
        self._state[:] = state["physics"]
        self._rng = [generators.from_words(words) for words in state["rng"]]
        self._elapsed[:] = state["elapsed"]
        self._place = np.array(state["place"])
        self._physics.sensed[:] = state["sensed"]
        return self._observe()

    def render(self, index: int = 0, width: int = 480, height: int = 480) -> NDArray[np.uint8]:
        """A picture of robot `index` by a camera that follows it."""
        if self._renderer is None:
            self._renderer = Renderer(self.model)
        data = self._rows.get_data(index)
        mujoco.mj_forward(self.model, data)
        camera = mujoco.MjvCamera()
        camera.type = mujoco.mjtCamera.mjCAMERA_TRACKING
        camera.trackbodyid = 1
        camera.distance, camera.elevation, camera.azimuth = 4.0, -20.0, 90.0
        return self._renderer.frame(data, camera, width, height)

    def close(self) -> None:
        """Free the picture maker, if there is one."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def _begin(self, ids: NDArray[np.int32]) -> None:
        """Start episodes of these environments, each drawing in Gymnasium's order."""
        noise, normal = self.robot.noise, self.robot.velocity_noise == "normal"
        nq, nv = self.model.nq, self.model.nv
        for i in ids:
            rng = self._rng[i]
            self._state[i] = self._start
            self._qpos[i] += rng.uniform(-noise, noise, nq)
            self._qvel[i] = (
                noise * rng.standard_normal(nv) if normal else rng.uniform(-noise, noise, nv)
            )
        self._physics.forward(ids)
        self._elapsed[ids] = 0
        self._place[ids] = self._physics.place()[ids]

    def _observe(self) -> NDArray[np.float64]:
        """[n, obs] a fresh array."""
        bound = self.robot.velocity_bound
        velocity = self._qvel
        if bound < np.inf:
            velocity = np.minimum(np.maximum(velocity, -bound), bound)
        return np.concatenate([self._seen, velocity, self._physics.sensed], axis=1)
