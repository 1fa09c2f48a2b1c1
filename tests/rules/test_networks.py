import jax
import numpy as np

from shapo.rules import networks


def test_initial_weights_are_uniform_within_one_over_root_inputs():
    layers = networks.init_mlp(np.random.default_rng(0), (100, 400, 3))
    for inputs, layer in zip((100, 400), layers, strict=True):
        bound = inputs**-0.5
        for values in layer:
            assert np.abs(values).max() <= bound
        # A uniform variable on ±b has standard deviation b/√3.
        np.testing.assert_allclose(np.std(layer.weight), bound / np.sqrt(3), rtol=0.05)
    assert layers[0].weight.shape == (100, 400)
    assert layers[1].bias.shape == (3,)


def test_mlp_by_hand():
    layers = networks.init_mlp(np.random.default_rng(1), (3, 4, 2))
    x = np.random.default_rng(0).normal(size=(5, 3))
    (w1, b1), (w2, b2) = jax.device_get(layers)
    np.testing.assert_allclose(
        networks.mlp(layers, x), np.tanh(x @ w1 + b1) @ w2 + b2, rtol=1e-5, atol=1e-6
    )


def test_a_new_policy_explores_by_a_standard_deviation_of_1_or_chooses():
    real, chooser = (
        networks.init_policy(np.random.default_rng(2), 3, (4,), actions, choices)
        for actions, choices in ((2, None), (1, 5))
    )
    obs = np.ones((7, 3), np.float32)
    around = networks.act(real, obs)
    assert around.mean.shape == (7, 2)
    np.testing.assert_array_equal(np.exp(around.log_std), [1, 1])
    assert networks.act(chooser, obs).log_probs.shape == (7, 5)
