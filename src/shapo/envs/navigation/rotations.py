"""Rotations in compiled code: quaternions (w, x, y, z), matrices, and vectors as three numbers."""

import math

from shapo.envs.navigation.compiled import inner


@inner
def cross(ax, ay, az, bx, by, bz):
    """The vector a × b."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@inner
def dot(x, y):
    """The sum of products of two arrays."""
    total = 0.0
    for k in range(len(x)):
        total += x[k] * y[k]
    return total


@inner
def rotation(quaternion, matrix):
    """Write a quaternion as a rotation matrix, row by row, into an array of 9 numbers."""
    w, x, y, z = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    matrix[0] = 1 - 2 * (y * y + z * z)
    matrix[1] = 2 * (x * y - w * z)
    matrix[2] = 2 * (x * z + w * y)
    matrix[3] = 2 * (x * y + w * z)
    matrix[4] = 1 - 2 * (x * x + z * z)
    matrix[5] = 2 * (y * z - w * x)
    matrix[6] = 2 * (x * z - w * y)
    matrix[7] = 2 * (y * z + w * x)
    matrix[8] = 1 - 2 * (x * x + y * y)


@inner
def turn(quaternion, velocity, time):
    """Turn by an angular velocity, in the turned thing's own axes, for a time."""
    rate = math.sqrt(dot(velocity, velocity))
    if rate == 0:
        return
    w, x, y, z = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    c, s = math.cos(0.5 * time * rate), math.sin(0.5 * time * rate) / rate
    i, j, k = s * velocity[0], s * velocity[1], s * velocity[2]
    quaternion[0] = w * c - x * i - y * j - z * k
    quaternion[1] = w * i + x * c + y * k - z * j
    quaternion[2] = w * j - x * k + y * c + z * i
    quaternion[3] = w * k + x * j - y * i + z * c
    length = math.sqrt(dot(quaternion, quaternion))
    for n in range(4):
        quaternion[n] /= length
