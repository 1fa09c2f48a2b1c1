import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shapo.learning.normalization import CLIP, FLOOR, frozen, merge, normalize, statistics_of

rows = arrays(np.float64, st.tuples(st.integers(1, 30), st.just(3)), elements=st.floats(-1e3, 1e3))


@settings(deadline=None)
@given(rows, rows, rows)
def test_merging_is_counting_all_at_once(a, b, c):
    merged = merge(merge(statistics_of(a), statistics_of(b)), statistics_of(c))
    together = np.concatenate([a, b, c])
    assert merged.count == len(together)
    np.testing.assert_allclose(merged.mean, together.mean(0), atol=1e-8)
    np.testing.assert_allclose(merged.deviation / merged.count, together.var(0), atol=1e-5)


def test_ten_million_samples_still_count():
    """Where float32 would have lost a new sample among the old, float64 has not."""
    many = statistics_of(np.zeros((2, 1)))._replace(count=np.float64(1e9))
    merged = merge(many, statistics_of(np.ones((1, 1))))
    np.testing.assert_allclose(merged.mean, 1e-9, rtol=1e-6)


def test_normalised_rows_have_mean_0_and_deviation_1():
    rng = np.random.default_rng(0)
    data = rng.normal(7, 3, (5000, 2))
    mean, scale = frozen(statistics_of(data))
    z = normalize(data, mean, scale)
    np.testing.assert_allclose([z.mean(), z.std()], [0, 1], atol=0.01)
    assert np.abs(z).max() <= CLIP


def test_a_constant_feature_does_not_explode():
    mean, scale = frozen(statistics_of(np.full((10, 1), 9.81)))
    assert scale == np.float32(FLOOR)
    assert abs(normalize(np.array([9.811]), mean, scale)) < 0.2
