import jax.numpy as jnp
import numpy as np
from scipy.stats import entropy as discrete_entropy
from scipy.stats import norm

from shapo.rules.gaussian import Gaussian

P = Gaussian(jnp.array([0.3, -1.0]), jnp.array([0.2, -0.5]))
Q = Gaussian(jnp.array([-0.2, -0.7]), jnp.array([-0.1, -0.2]))


def marginals(p):
    return [norm(m, s) for m, s in zip(p.mean, jnp.exp(p.log_std), strict=True)]


def test_log_prob_is_scipy_s():
    action = jnp.array([0.9, -1.4])
    expected = sum(n.logpdf(a) for n, a in zip(marginals(P), action, strict=True))
    np.testing.assert_allclose(P.log_prob(action), expected, rtol=1e-5)


def test_divergence_is_the_integral_it_stands_for():
    x = np.linspace(-12, 12, 40_001)
    expected = sum(
        discrete_entropy(p.pdf(x), q.pdf(x))
        for p, q in zip(marginals(P), marginals(Q), strict=True)
    )
    np.testing.assert_allclose(P.divergence(Q), expected, rtol=1e-4)
    np.testing.assert_allclose(P.divergence(P), 0.0, atol=1e-7)


def test_entropy_is_scipy_s():
    np.testing.assert_allclose(P.entropy(), sum(n.entropy() for n in marginals(P)), rtol=1e-5)


def test_in_single_precision_a_small_divergence_is_known_well_enough():
    """SHAPO's radius for a fixed tail probability is below 1e-7 in the end, and its line search believes it."""
    rng = np.random.default_rng(0)
    mean, log_std = rng.normal(size=(2000, 2)), rng.normal(size=2)
    for size in (1e-3, 1e-4, 3e-5):
        exact = [np.float32(x).astype(float) for x in (mean, log_std)]
        moved = [np.float32(x + size * rng.normal(size=x.shape)).astype(float) for x in exact]
        shift, wider = (exact[0] - moved[0]) * np.exp(-moved[1]), exact[1] - moved[1]
        expected = np.mean(np.sum(-wider + (np.expm1(2 * wider) + shift**2) / 2, -1))
        p, q = (Gaussian(*(jnp.asarray(x, jnp.float32) for x in each)) for each in (exact, moved))
        np.testing.assert_allclose(p.divergence(q).mean(), expected, rtol=0.02)
