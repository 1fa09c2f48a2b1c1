"""What new statistics do to a policy: nothing, or as little as a straight line can."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from shapo.learning.normalization import CLIP, FLOOR, frozen, merge, normalize, statistics_of
from shapo.learning.renormalization import fold, line_between
from shapo.rules.networks import Layer

between = jax.jit(line_between)


def test_a_layer_s_answers_stay_as_they_were():
    rng = np.random.default_rng(0)
    obs, layer = rng.normal(3, 2, (10, 5, 4)), Layer(rng.normal(size=(4, 6)), rng.normal(size=6))
    before = rng.normal(3, 0.1, 4), rng.uniform(1.9, 2.1, 4)
    after = rng.normal(3, 0.1, 4), rng.uniform(1.9, 2.1, 4)
    new = fold(layer, *between(obs, before, after))
    old = normalize(obs, *before) @ layer.weight + layer.bias
    np.testing.assert_allclose(
        normalize(obs, *after) @ new.weight + new.bias, old, rtol=1e-4, atol=1e-5
    )


def test_a_line_is_the_exact_one_where_nothing_is_clipped_and_the_closest_elsewhere():
    rng = np.random.default_rng(1)
    obs = rng.normal(size=(100, 3, 2)) * [1.0, 8.0]
    before, after = (np.zeros(2), np.full(2, 2.0)), (np.ones(2), np.full(2, 3.0))
    assert (np.abs(obs[..., 0]) < 6).all() and (np.abs(obs[..., 1]) > 10).any()
    slope, shift = between(obs, before, after)
    np.testing.assert_allclose([slope[0], shift[0]], [3 / 2, 1 / 2], rtol=1e-6)
    old, new = (normalize(obs, *each)[..., 1].ravel() for each in (before, after))
    np.testing.assert_allclose([slope[1], shift[1]], np.polyfit(new, old, 1), rtol=1e-5)


@pytest.mark.parametrize("size", [1.0, 50.0, 1e6])
@pytest.mark.parametrize("share", [0.001, 0.01, 0.3])
def test_a_feature_that_was_constant_at_first_does_not_run_away(size, share):
    """A flag that is seen from the third batch on. A straight line tells exactly what it was, clipped or not."""
    rng = np.random.default_rng(0)
    seen, weight = statistics_of(np.zeros((1000, 1))), 1.0
    for batch in range(25):
        obs = size * (rng.random((500, 20, 1)) < (share if batch >= 2 else 0.0))
        before, merged = frozen(seen), merge(seen, statistics_of(obs))
        after = frozen(merged)
        slope, shift = between(obs, before, after)
        was, now = (normalize(obs, *each) for each in (before, after))
        np.testing.assert_allclose(now * slope + shift, was, atol=1e-4)
        seen, weight = merged, weight * float(slope[0])
    assert after[1] > FLOOR
    assert 0.1 < weight < 5, "a hundred times as much would saturate whatever it leads to"


def test_what_is_clipped_and_does_not_vary_is_no_reason_to_change():
    obs = np.full((4, 2, 1), 100.0)
    slope, shift = between(obs, (np.zeros(1), np.ones(1)), (np.zeros(1), np.full(1, 2.0)))
    assert (slope, shift) == (1.0, 0.0)
    assert jnp.isfinite(slope).all()


@pytest.mark.parametrize("rows", [(200, 5), (1000, 20)])
def test_nor_is_the_rounding_of_a_mean(rows):
    """In single precision the mean of equal numbers is another number, so that they seem to vary."""
    mean, scales = np.zeros(50, np.float32), np.linspace(0.5, 3.0, 50, dtype=np.float32)
    obs = np.ones((*rows, 50), np.float32)
    slope, shift = between(obs, (mean, np.full_like(scales, FLOOR)), (mean, scales))
    assert (slope == 1).all()
    np.testing.assert_allclose(shift, CLIP - 1 / scales, rtol=1e-5)
