"""A task small enough to train in a blink: walk along a line to 1 without passing 1.2. And ways to break it.

A worker imports the module that its environment comes from, so nothing is imported here that takes its time.
"""

import faulthandler
import os
import signal
import subprocess
import time
from pathlib import Path

import gymnasium
import numpy as np

from shapo.envs.protocol import Step

HOLD = "SHAPO_TEST_HOLD"
FAULTY_REWARDS = {"nan": np.nan, "huge": 1e30}


class Toy:
    id = "Toy"
    num_costs = 1
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (3,))
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,))

    def __init__(self, num_envs, horizon=25, fault="", fault_step=60):
        self.num_envs, self.horizon = num_envs, horizon
        self.fault, self.fault_step, self.taken = fault, fault_step, 0

    def reset(self, seed=0):
        if seed is None:
            self.episode = self.episode + 1
        else:
            self.seed = seed + np.arange(self.num_envs)
            self.episode = np.zeros(self.num_envs, np.int64)
        self.place, self.time = np.zeros((2, self.num_envs))
        for i in range(self.num_envs):
            self._begin(i)
        return self._observe()

    def step(self, action):
        self.taken += 1
        if self.fault and self.taken == self.fault_step:
            self._break()
        self.place = self.place + 0.1 * action[:, 0]
        self.time = self.time + 1
        last, reward = self._observe(), -np.abs(self.place - 1) - 0.01 * (action[:, 1] ** 2)
        cost, fell = (self.place > 1.2).astype(float), np.abs(self.place) > 2.5
        if self.fault in FAULTY_REWARDS and self.taken >= self.fault_step:
            reward[-1] = FAULTY_REWARDS[self.fault]
        late = self.time >= self.horizon
        for i in np.flatnonzero(fell | late):
            self.episode[i] += 1
            self._begin(i)
        return Step(self._observe(), reward, cost, fell, late, last)

    def get_state(self):
        return {k: getattr(self, k).copy() for k in ("seed", "episode", "place", "time")}

    def set_state(self, state):
        vars(self).update({k: v.copy() for k, v in state.items()})
        return self._observe()

    def render(self, index=0, width=480, height=480):
        frame = np.zeros((height, width, 3), np.uint8)
        frame[:, int(np.clip((self.place[index] + 2.5) / 5 * (width - 1), 0, width - 1))] = 255
        return frame

    def close(self):
        pass

    def _begin(self, i):
        rng = np.random.default_rng((self.seed[i], self.episode[i]))
        self.place[i], self.time[i] = rng.uniform(-0.5, 0.5), 0

    def _observe(self):
        return np.stack([self.place, self.place**2, self.time / self.horizon], axis=1)

    def _break(self):
        if self.fault == "raise":
            raise ZeroDivisionError("the floor\nis gone")
        if self.fault == "hang":
            time.sleep(1000)


class Priced(Toy):
    """What it does costs, too, besides where it is."""

    num_costs = 2

    def step(self, action):
        step = super().step(action)
        return step._replace(cost=np.stack([step.cost, 10 * np.abs(action[:, 1])], axis=1))


class Held(Toy):
    """Stops in the middle of a third batch of 50 steps as long as there is the file that `HOLD` names.

    What then happens to its training happens before it ends, however slow or fast the machine is.
    """

    def step(self, action):
        while self.taken == 125 and os.path.exists(os.environ.get(HOLD, "")):
            time.sleep(0.01)
        return super().step(action)


class Stubborn(Held):
    """Takes its time to close."""

    def close(self):
        print("closing", flush=True)
        time.sleep(1000)


class Slow(Toy):
    """Slow enough for a test to strike in the middle of a batch."""

    def step(self, action):
        time.sleep(0.004)
        return super().step(action)


class Lost(Toy):
    """Never comes back from the reset with which a training begins."""

    def __init__(self, num_envs):
        super().__init__(num_envs)
        self.built = False

    def reset(self, seed=0):
        while self.built:
            time.sleep(1)
        self.built = True
        return super().reset(seed)


class Remote(Toy):
    """Its simulator runs elsewhere, and the line to it breaks."""

    def __init__(self, num_envs, when, error):
        super().__init__(num_envs)
        self.when, self.error = when, error
        self._call("init")

    def reset(self, seed=0):
        self._call("reset")
        return super().reset(seed)

    def step(self, action):
        self._call("step")
        return super().step(action)

    def _call(self, what):
        if what == self.when:
            raise self.error("the simulator hung up")


class Crossing:
    """A road to cross or not, in light (1) or in the dark (−1), each as often: the answer is known.

    One may wait for nothing, dash, which pays 2 in the light and 1 in the dark and costs 1, or fall, which pays −1. An
    episode has 20 steps, so to dash always pays 30 and costs 20; to dash in the light alone, 20 and 10, and within that
    limit nothing pays more.
    """

    id, num_costs, horizon = "Crossing", 1, 20
    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,))
    action_space = gymnasium.spaces.Discrete(3, start=1)
    WAIT, DASH, FALL = 1, 2, 3

    def __init__(self, num_envs):
        self.num_envs = num_envs

    def reset(self, seed=0):
        self.seed = seed + np.arange(self.num_envs)
        self.time = np.zeros(self.num_envs, np.int64)
        return self._observe()

    def step(self, action):
        assert action.dtype == np.int64 and action.shape == (self.num_envs,)
        assert all(map(self.action_space.contains, action))
        light, dashed = self._observe()[:, 0] > 0, action == self.DASH
        reward = np.where(dashed, np.where(light, 2.0, 1.0), 0.0) - (action == self.FALL)
        self.time = self.time + 1
        obs, late = self._observe(), self.time % self.horizon == 0
        return Step(obs, reward, 1.0 * dashed, np.zeros(self.num_envs, bool), late, obs)

    def get_state(self):
        return {"seed": self.seed.copy(), "time": self.time.copy()}

    def set_state(self, state):
        vars(self).update({k: v.copy() for k, v in state.items()})
        return self._observe()

    def render(self, index=0, width=480, height=480):
        return np.zeros((height, width, 3), np.uint8)

    def close(self):
        pass

    def _observe(self):
        """By a hash of seed and time, so that there is nothing else to remember."""
        mixed = (self.seed * 2654435761 + self.time * 40503 + 12345) % 2**32
        light = np.where((mixed * 2246822519 % 2**32 >> 16) & 1, 1.0, -1.0)
        return np.stack([light, np.ones(self.num_envs)], axis=1)


class Owner(Toy):
    """Has a process of its own, as environments with a simulator in another program do."""

    def __init__(self, num_envs, notes, stubborn=False):
        super().__init__(num_envs)
        self.stubborn = stubborn
        self.notes = Path(notes)
        self.server = subprocess.Popen(["sleep", "1000"])
        (self.notes / f"{self.server.pid}.begun").touch()

    def close(self):
        if self.stubborn:
            time.sleep(1000)
        self.server.kill()
        self.server.wait()
        (self.notes / f"{self.server.pid}.closed").touch()


class Switches(Owner):
    """Its actions are none that a policy can take."""

    action_space = gymnasium.spaces.MultiBinary(3)


class Remembering(Toy):
    """Each environment remembers as many numbers as its batch's first seed says, so workers' states differ in shape."""

    def get_state(self):
        length = 1 + self.seed[0] % 5
        return super().get_state() | {"history": np.tile(self.seed[:, None], length)}

    def set_state(self, state):
        state = dict(state)
        history = state.pop("history")[:, : 1 + state["seed"][0] % 5]
        np.testing.assert_array_equal(history, np.tile(state["seed"][:, None], history.shape[1]))
        return super().set_state(state)


class Forking(Owner):
    """Leaves somebody behind who holds all that the worker held, and crashes."""

    def step(self, action):
        if pid := os.fork():
            (self.notes / f"{pid}.begun").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(1000)


class Crashing(Toy):
    def step(self, action):
        faulthandler._sigsegv()


def pendulum():
    class Costly(gymnasium.Wrapper):
        def step(self, action):
            *step, info = self.env.step(action)
            return *step, info | {"cost": float(abs(step[0][2]) > 2)}

    return Costly(gymnasium.make("Pendulum-v1"))


def unbuildable(num_envs):
    raise KeyError("no such maze")
