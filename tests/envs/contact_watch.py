"""What MuJoCo finds in contact in each substep, and which of it a hybrid step left out.

A contact counts wherever one of its two parties was left out of MuJoCo: the robot of an environment that the hybrid
called free, or a body that it moved along its course or let rest. With what does not matter: another body, a robot,
a pillar or a button, for one substep or for all of them.

Contacts with the floor are no event, and do not count: robots, vases and boxes stand on it. A gremlin flies, so its
contacts with the floor do count.
"""

from unittest import mock

import mujoco
import numpy as np

from shapo.envs.navigation.env import Navigation
from shapo.envs.navigation.exchange import FIRST_PART, FLOOR, ROBOT

MJ_STEP, MJ_FORWARD = mujoco.mj_step, mujoco.mj_forward


class Watch:
    """Steps an environment with `physics="mujoco"` and keeps the contacts of every substep.

    Ten substeps, and the forward pass that ends them: contacts are looked for eleven times, at all the poses from the
    step's beginning to its end.
    """

    def __init__(self, env: Navigation):
        assert env.rules.everything
        self.env = env
        self._first_body = FIRST_PART + env.rules.num_solids
        self._owners = env._physics.workspace(env.rules.num_bodies).owners
        self._poses, self._found = [], []

    def step(self, action):
        self._poses, self._found = [], []
        with mock.patch.multiple(mujoco, mj_step=self._mj_step, mj_forward=self._mj_forward):
            return self.env.step(action)

    def _mj_step(self, model, data, count=1):
        for _ in range(count):
            MJ_STEP(model, data)
            self._poses.append(data.contact.geom.copy())  # of the pose that the substep began with

    def _mj_forward(self, model, data):
        MJ_FORWARD(model, data)
        if self._poses:  # else a Car that begins anew only senses
            self._poses.append(data.contact.geom.copy())
            self._found.append(self._poses)
            self._poses = []

    def _pairs(self, poses):
        """Who touches whom, the lesser first, but for what stands on the floor."""
        owners = np.sort(self._owners[np.concatenate(poses)], axis=1)
        floor = owners[:, 0] == FLOOR
        if self.env.rules.gremlins:
            floor &= owners[:, 1] < self._first_body
        own = owners[:, 0] == owners[:, 1]
        return {tuple(pair) for pair in owners[~(floor | own)].tolist()}

    def contacts(self, i):
        """The pairs that touched in environment i at any time in the step."""
        assert len(self._found[i]) == 11
        return self._pairs(self._found[i])

    def leaning(self, i):
        """The bodies of environment i that touch another when the step is over."""
        pairs = [p for p in self._pairs(self._found[i][-1:]) if min(p) >= self._first_body]
        return sorted({part - self._first_body for pair in pairs for part in pair})

    def missed(self, hybrid):
        """(environment, pair) of each contact that `hybrid`, stepped from the same state, did not let MuJoCo see.

        Also returns how many pairs it did let MuJoCo see.
        """
        in_mujoco = np.isin(np.arange(hybrid.num_envs), hybrid.in_mujoco)
        misses, seen = [], 0
        for i in range(hybrid.num_envs):
            for pair in sorted(self.contacts(i)):
                bodies = [p - self._first_body for p in pair if p >= self._first_body]
                left_out = ROBOT in pair and not in_mujoco[i]
                left_out |= any(not hybrid._matters[i, b] for b in bodies)
                if left_out:
                    misses.append((i, pair))
                else:
                    seen += 1
        return misses, seen
