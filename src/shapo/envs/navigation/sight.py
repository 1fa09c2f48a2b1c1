"""What a robot observes: its own sensors and, for every kind of object, a lidar of 16 directions."""

import math

from shapo.envs.navigation.compiled import copy, entry, fill, inner
from shapo.envs.navigation.rules import BUTTON
from shapo.envs.navigation.tasks import LIDAR_BINS

_BIN = 2 * math.pi / LIDAR_BINS
_MASK = LIDAR_BINS - 1  # a power of two, so that & wraps round


@entry
def axes(q):
    """The robot's height, and its x and y axis in the world, from its positions `q`."""
    if len(q) == 3:
        s, c = math.sin(q[2]), math.cos(q[2])
        return 0.1, c, s, 0.0, -s, c, 0.0
    w, x, y, z = q[3], q[4], q[5], q[6]
    return (
        q[2],
        w * w + x * x - y * y - z * z, 2 * (x * y + w * z), 2 * (x * z - w * y),
        2 * (x * y - w * z), w * w - x * x + y * y - z * z, 2 * (y * z + w * x),
    )  # fmt: skip


@inner
def mark(ahead, aside, reach, lidar):
    """Show an object at (`ahead`, `aside`) of the robot in `lidar`: nearer is brighter, `reach` and beyond is dark.

    The two directions next to the object's own get a share that says where between them it lies.
    """
    distance = math.sqrt(ahead * ahead + aside * aside)
    if distance >= reach:
        return
    brightness = (reach - distance) / reach
    angle = math.atan2(aside, ahead)
    if angle < 0:
        angle += 2 * math.pi
    k = int(angle / _BIN)
    share = (angle - k * _BIN) / _BIN
    here, left, right = k & _MASK, (k + 1) & _MASK, (k - 1) & _MASK
    lidar[here] = max(lidar[here], brightness)
    lidar[left] = max(lidar[left], share * brightness)
    lidar[right] = max(lidar[right], (1 - share) * brightness)


@inner
def observe(rules, q, sensors, spots, timer, obs):
    """Write the observation of one environment into `obs`."""
    own = len(sensors)
    copy(sensors, obs[:own])
    fill(0.0, obs[own:])
    height, ax, ay, az, bx, by, bz = axes(q)
    for j in range(1, len(rules.kind)):
        start = rules.lidar[j]
        # Buttons are hidden for a while after one was pressed.
        if start < 0 or (timer > 0 and rules.kind[j] == BUTTON):
            continue
        dx, dy = spots[j, 0] - q[0], spots[j, 1] - q[1]
        mark(
            dx * ax + dy * ay - height * az,
            dx * bx + dy * by - height * bz,
            rules.lidar_range,
            obs[start : start + LIDAR_BINS],
        )
