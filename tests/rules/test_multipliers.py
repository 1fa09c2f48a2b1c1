import jax.numpy as jnp
import numpy as np
import pytest

from shapo.rules.multipliers import Ascent, Bounded, Pid


def pid_by_hand(
    costs, limit, initial=0.001, kp=0.1, ki=0.01, kd=0.01, delay=10,
    proportional_memory=0.95, derivative_memory=0.95,
):  # fmt: skip
    """With a growing list for the delay, as published code does it."""
    integral, proportional, average, queue, found = initial, 0.0, 0.0, [0.0], []
    for cost in costs:
        error = cost - limit
        integral = max(0.0, integral + ki * error)
        proportional += (1 - proportional_memory) * (error - proportional)
        average += (1 - derivative_memory) * (cost - average)
        rise = max(0.0, average - queue[0])
        found.append(max(0.0, kp * proportional + integral + kd * rise))
        queue = [*queue, average][-delay:]
    return found


OTHERWISE = {
    "initial": 0.5, "kp": 0.3, "ki": 0.02, "kd": 0.9, "delay": 3,
    "proportional_memory": 0.8, "derivative_memory": 0.5,
}  # fmt: skip


@pytest.mark.parametrize("choices", [{}, OTHERWISE])
@pytest.mark.parametrize("seed", range(3))
def test_pid_follows_the_published_controller(seed, choices):
    costs = np.random.default_rng(seed).uniform(0, 40, 40)
    pid = Pid(**choices)
    state, found = pid.init(1), []
    for cost in costs:
        state = pid.update(state, jnp.array([cost]), jnp.array([15.0]))
        found.append(float(pid.value(state)[0]))
    np.testing.assert_allclose(found, pid_by_hand(costs, 15.0, **choices), rtol=1e-4, atol=1e-5)


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


def test_a_bounded_multiplier_climbs_by_its_rate_and_stays_within_its_bounds():
    rule, limits, by_hand = Bounded(initial=0.3, rate=0.02, most=0.9), (10.0, 4.0), [0.3, 0.3]
    state, found = rule.init(2), []
    for costs in np.random.default_rng(0).uniform(-20, 40, (60, 2)):
        state = rule.update(state, jnp.asarray(costs), jnp.asarray(limits))
        for i, (cost, limit) in enumerate(zip(costs, limits, strict=True)):
            by_hand[i] = min(max(by_hand[i] + 0.02 * (cost - limit), 0.0), 0.9)
        np.testing.assert_allclose(rule.value(state), by_hand, rtol=1e-4, atol=1e-6)
        found += by_hand
    assert {0.0, 0.9} < set(found)
