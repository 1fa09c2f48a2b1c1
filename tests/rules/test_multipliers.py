import jax.numpy as jnp
import numpy as np
import pytest

from shapo.rules.multipliers import Ascent, Pid


def pid_by_hand(costs, limit, initial=0.001, kp=0.1, ki=0.01, kd=0.01, delay=10):
    """With a growing list for the delay, as published code does it."""
    integral, proportional, average, queue, found = initial, 0.0, 0.0, [0.0], []
    for cost in costs:
        error = cost - limit
        integral = max(0.0, integral + ki * error)
        proportional = 0.95 * proportional + 0.05 * error
        average = 0.95 * average + 0.05 * cost
        rise = max(0.0, average - queue[0])
        found.append(max(0.0, kp * proportional + integral + kd * rise))
        queue = [*queue, average][-delay:]
    return found


@pytest.mark.parametrize("seed", range(3))
def test_pid_follows_the_published_controller(seed):
    costs = np.random.default_rng(seed).uniform(0, 40, 40)
    pid, state, found = Pid(), Pid().init(1), []
    for cost in costs:
        state = pid.update(state, jnp.array([cost]), jnp.array([15.0]))
        found.append(float(pid.value(state)[0]))
    np.testing.assert_allclose(found, pid_by_hand(costs, 15.0), rtol=1e-4, atol=1e-5)


def test_ascent_is_adam_projected():
    """Adam's first step has the length of its rate, whatever the gradient."""
    ascent, state = Ascent(initial=0.001, rate=0.035), Ascent().init(2)
    state = ascent.update(state, jnp.array([100.0, 0.0]), jnp.array([10.0, 10.0]))
    np.testing.assert_allclose(ascent.value(state), [0.001 + 0.035, 0.0], atol=1e-6)
    state = ascent.update(state, jnp.array([100.0, 0.0]), jnp.array([10.0, 10.0]))
    np.testing.assert_allclose(ascent.value(state), [0.001 + 0.070, 0.0], atol=1e-6)


def test_ascent_against_pytorch_s_adam_written_out():
    costs, limit = np.array([30.0, 12.0, 3.0, 8.0, 40.0]), 10.0
    ascent, state = Ascent(initial=0.5), Ascent(initial=0.5).init(1)
    multiplier, m, v = 0.5, 0.0, 0.0
    for t, cost in enumerate(costs, start=1):
        grad = -(cost - limit)
        m, v = 0.9 * m + 0.1 * grad, 0.999 * v + 0.001 * grad**2
        step = 0.035 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        multiplier = max(0.0, multiplier - step)
        state = ascent.update(state, jnp.array([cost]), jnp.array([limit]))
        np.testing.assert_allclose(ascent.value(state), [multiplier], rtol=1e-4)
