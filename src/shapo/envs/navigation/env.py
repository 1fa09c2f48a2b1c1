"""Safety-Gym's navigation tasks as a batch of environments."""

from collections.abc import Iterable, Mapping
from typing import Literal

import gymnasium
import numpy as np
from numpy.typing import NDArray

from shapo.envs.checks import checked_action, checked_state
from shapo.envs.navigation import batch, stream
from shapo.envs.navigation.physics import Physics
from shapo.envs.navigation.rules import make_rules
from shapo.envs.navigation.scene import Scene
from shapo.envs.navigation.state import State, allocate
from shapo.envs.navigation.tasks import LIDAR_BINS, NUM_SENSORS, Task
from shapo.envs.protocol import Step
from shapo.words import BadInput

PhysicsChoice = Literal["hybrid", "mujoco"]


class Navigation:
    """`num_envs` environments of one navigation task (see `BatchEnv`).

    `physics="hybrid"` asks MuJoCo only where something could touch something; `"mujoco"` asks it always.
    """

    num_costs = 1

    def __init__(self, task: Task, num_envs: int, seed: int = 0, physics: PhysicsChoice = "hybrid"):
        if num_envs < 1:
            raise BadInput(f"{task.id}: num_envs must be at least 1, got {num_envs}")
        if physics not in ("hybrid", "mujoco"):
            raise BadInput(f'{task.id}: physics must be "hybrid" or "mujoco", got {physics!r}')
        self.id = task.id
        self.task = task
        self.num_envs = num_envs
        self.horizon = task.horizon
        self.rules = make_rules(task, everything=physics == "mujoco")
        self._physics = Physics(task)
        self._state = allocate(task, num_envs)
        self._actions = np.zeros((num_envs, 2))
        self._matters = np.zeros((num_envs, self.rules.num_bodies), np.bool_)
        self._touching = np.zeros((num_envs, len(self.rules.kind)), np.bool_)
        self._near = np.zeros(num_envs, np.int64)
        self._count = 0
        size, sensors = task.observations, NUM_SENSORS[task.robot]
        low, high = np.full(size, -np.inf), np.full(size, np.inf)
        low[sensors:], high[sensors:] = 0.0, 1.0
        self.observation_space = gymnasium.spaces.Box(low, high, dtype=np.float64)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
        self._scene: Scene | None = None
        self.reset(seed)

    def reset(self, seed: int | None) -> NDArray[np.float64]:
        """Begin new episodes; environment i draws everything from `RandomState(seed + i)`, as the original does.

        None: each from its stream as it stands.
        """
        if seed is not None:
            self._seed(seed)
        self._touching[:] = False
        obs = np.empty((self.num_envs, *self.observation_space.shape))
        batch.begin_all(self.rules, self._state, obs)
        if not self.rules.point:
            self._sense_anew(obs, range(self.num_envs))
        return obs

    def step(self, action: NDArray) -> Step:
        """Apply `action` [n, 2]: forward and turn (Point), left and right wheel (Car), within [-1, 1]."""
        n, actions, state, rules = self.num_envs, self._actions, self._state, self.rules
        # Copied, because an array that is not contiguous, or read-only, would be compiled for anew.
        actions[:] = checked_action(self.id, n, self.action_space, action)
        advance = batch.advance_points if rules.point else batch.advance_cars
        self._count = advance(rules, state, actions, self._matters, self._near, self._touching)
        for i in self._near[: self._count].tolist():
            self._physics.step(rules, state, i, actions[i], self._matters[i], self._touching)
        size = self.observation_space.shape[0]
        step = Step(
            np.empty((n, size)), np.empty(n), np.empty(n), np.empty(n, np.bool_), np.empty(n, np.bool_),
            np.empty((n, size)),
        )  # fmt: skip
        batch.conclude(
            rules, state, self._touching, step.obs, step.reward, step.cost, step.terminated, step.truncated,
            step.last_obs,
        )  # fmt: skip
        if not rules.point:
            self._sense_anew(step.obs, np.flatnonzero(step.terminated | step.truncated).tolist())
        return step

    def _seed(self, seed: int) -> None:
        if not 0 <= seed <= 2**32 - self.num_envs:
            raise BadInput(f"{self.id}: seed must be in 0 .. 2**32 - num_envs, got {seed}")
        for i in range(self.num_envs):
            stream.start(seed + i, self._state.words[i])

    def _sense_anew(self, obs: NDArray[np.float64], begun: Iterable[int]) -> None:
        """Ask MuJoCo what a Car senses that has just begun: its wheels are in contact even at rest."""
        for i in begun:
            self._physics.sense(self.rules, self._state, i)
            obs[i, : self._state.sensors.shape[1]] = self._state.sensors[i]

    @property
    def touching(self) -> NDArray[np.bool_]:
        """[n, objects] what each robot touched at the end of the last step."""
        return self._touching.copy()

    @property
    def in_mujoco(self) -> NDArray[np.int64]:
        """The environments whose last step MuJoCo took, in whole or in part."""
        return self._near[: self._count].copy()

    def get_state(self) -> dict[str, NDArray]:
        """All that decides the future, random streams included."""
        return {name: array.copy() for name, array in self._state._asdict().items()}

    def set_state(self, state: Mapping[str, NDArray]) -> NDArray[np.float64]:
        """Continue from `get_state()`'s answer, bit for bit, and return the observations to act on."""
        checked_state(self.id, self.num_envs, state, State._fields)
        for name, array in self._state._asdict().items():
            if np.shape(state[name]) != array.shape:
                raise BadInput(
                    f"{self.id}: state[{name!r}] must have shape {array.shape}, got {np.shape(state[name])}"
                )
        if np.any((state["steps"] < 0) | (state["steps"] >= self.horizon)):
            raise BadInput(f"{self.id}: state['steps'] must be in 0 .. {self.horizon - 1}")
        for name, array in self._state._asdict().items():
            array[...] = state[name]
        self._touching[:] = False
        obs = np.empty((self.num_envs, *self.observation_space.shape))
        batch.look_all(self.rules, self._state, obs)
        return obs

    def render(self, index: int = 0, width: int = 480, height: int = 480) -> NDArray[np.uint8]:
        """A picture of environment `index`, [height, width, 3]."""
        if self._scene is None:
            self._scene = Scene(self.task)
        obs = np.empty((self.num_envs, *self.observation_space.shape))
        batch.look_all(self.rules, self._state, obs)
        state = self._state
        return self._scene.picture(
            state.robot_q[index],
            state.spots[index],
            state.body_q[index],
            obs[index, state.sensors.shape[1] :].reshape(-1, LIDAR_BINS),
            width,
            height,
        )

    def close(self) -> None:
        """Free what drawing needed."""
        if self._scene is not None:
            self._scene.close()
            self._scene = None
