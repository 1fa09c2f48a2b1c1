"""The categorical distribution against SciPy and brute force."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import entropy

from shapo.rules.categorical import Categorical

LOGITS = np.random.default_rng(0).normal(scale=2, size=(2, 5, 4))
P, Q = (Categorical.of(jnp.asarray(each)) for each in LOGITS)
PROBS = np.exp(LOGITS) / np.exp(LOGITS).sum(-1, keepdims=True)


def test_log_prob_is_the_chosen_one_s():
    action = np.array([[0.0], [3.0], [1.0], [2.0], [3.0]], np.float32)
    expected = np.log([PROBS[0, row, int(chosen)] for row, (chosen,) in enumerate(action)])
    np.testing.assert_allclose(P.log_prob(jnp.asarray(action)), expected, rtol=1e-5)


def test_divergence_and_entropy_are_scipy_s():
    np.testing.assert_allclose(P.divergence(Q), entropy(*PROBS, axis=-1), rtol=1e-5)
    np.testing.assert_allclose(P.divergence(P), 0.0, atol=1e-7)
    np.testing.assert_allclose(P.entropy(), entropy(PROBS[0], axis=-1).mean(), rtol=1e-5)


@pytest.mark.parametrize("shift", [1e3, -1e3])
def test_logits_may_be_anything(shift):
    """A choice that is out of the question has its price, and nothing is NaN."""
    far = jnp.asarray(LOGITS[0]).at[:, 1].add(shift)
    sure, slope = Categorical.of(far), jax.grad(lambda z: Categorical.of(z).divergence(P).sum())
    assert jnp.isfinite(sure.divergence(P)).all() and jnp.isfinite(P.divergence(sure)).all()
    assert jnp.isfinite(sure.entropy()) and jnp.isfinite(slope(far)).all()


@pytest.mark.parametrize("size", [6e-3, 1e-3, 1e-4])
@pytest.mark.parametrize("choices", [2, 4, 6])
@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_in_single_precision_a_small_divergence_is_known_well_enough(spread, choices, size):
    """δ_down may be 1e-5 nats, and after a million samples 1e-9; the first policy is the same in all states."""
    rng = np.random.default_rng(1)
    here = np.float32(spread * rng.normal(size=(64, choices)))
    there = np.float32(here + size * rng.normal(size=here.shape))
    exact = entropy(*(softmax(z.astype(float), axis=-1) for z in (here, there)), axis=-1)
    p, q = (Categorical.of(jnp.asarray(z)) for z in (here, there))
    np.testing.assert_allclose(p.divergence(q).mean(), exact.mean(), rtol=0.01)
