import jax.numpy as jnp
import numpy as np
import pytest

from shapo.learning.advantages import centre, gae, standardise

DISCOUNT, LAMBDA = 0.9, 0.8


def by_definition(signal, value, next_value, terminated, truncated):
    """A_t = Σ_k (γλ)^k δ_{t+k} within the episode, term by term."""
    steps, envs = signal.shape
    advantage = np.zeros_like(signal)
    for i in range(envs):
        for t in range(steps):
            weight = 1.0
            for k in range(t, steps):
                future = 0.0 if terminated[k, i] else DISCOUNT * next_value[k, i]
                advantage[t, i] += weight * (signal[k, i] + future - value[k, i])
                if terminated[k, i] or truncated[k, i]:
                    break
                weight *= DISCOUNT * LAMBDA
    return advantage


@pytest.mark.parametrize("seed", range(5))
def test_gae_is_its_definition(seed):
    rng = np.random.default_rng(seed)
    signal, value, next_value = rng.normal(size=(3, 23, 4)).astype(np.float32)
    terminated, truncated = rng.random((2, 23, 4)) < 0.15
    found = gae(signal, value, next_value, terminated, truncated, discount=DISCOUNT, gae=LAMBDA)
    expected = by_definition(signal, value, next_value, terminated, truncated)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_an_endless_task_cut_by_time_is_worth_what_it_would_be_worth():
    """Reward 1 for ever is worth 1/(1−γ) = 10; with the right critic no step has an advantage, cut or not."""
    ones, value = jnp.ones((6, 1)), jnp.full((6, 1), 10.0)
    cut = jnp.zeros((6, 1), bool).at[2].set(True)
    never = jnp.zeros((6, 1), bool)
    found = gae(ones, value, value, never, cut, discount=0.9, gae=0.95)
    np.testing.assert_allclose(found, 0.0, atol=1e-5)
    # Ended for good instead, step 2 is worth 1 and not 10.
    found = gae(ones, value, value, cut, never, discount=0.9, gae=0.95)
    np.testing.assert_allclose(found[2], 1.0 - 10.0, atol=1e-5)


def test_scaling():
    x = jnp.array([1.0, 2.0, 6.0])
    np.testing.assert_allclose(centre(x), [-2, -1, 3])
    np.testing.assert_allclose(standardise(x), np.array([-2, -1, 3]) / np.sqrt(14 / 3), rtol=1e-5)
    np.testing.assert_allclose(standardise(jnp.ones(3)), 0.0)


@pytest.mark.parametrize("value", [0.1, 0.3, -7.3, 123.4, 1e-30])
@pytest.mark.parametrize("rows", [1, 7, 20_000])
def test_where_all_is_equal_rounding_is_no_advantage(value, rows):
    """In single precision the mean of equal numbers is another number."""
    assert not np.any(standardise(jnp.full(rows, value, jnp.float32)))
    noisy = value * (1 + 1e-4 * np.random.default_rng(0).normal(size=rows))
    deviation = np.std(standardise(jnp.asarray(noisy, jnp.float32)))
    assert rows == 1 or abs(value) < 1e-4 or 0.9 < deviation < 1.1
