"""PPO's update, with each gradient rule, value for value against the same written in NumPy by hand (`oracle`)."""

import functools

import jax
import numpy as np
import oracle
import pytest
from problems import ACT, KEY, OBS, data, flat, orders, policy, progress, samples

from shapo.algorithms import ppo
from shapo.rules.epochs import WATCHED, Epochs, minibatches
from shapo.rules.gradients import Plain, Sam, Shapo
from shapo.rules.losses import FirstOrder
from shapo.rules.steps import SKETCH_STATES, FisherSolver, thinned

HIDDEN, ROWS, SIZE = (6, 5), 150, 32
LARGE = SKETCH_STATES * WATCHED
"""Rows of which only a few are watched."""
NET = oracle.Mlp(OBS, *HIDDEN, ACT)
RATE, REMAINING, CLIP, MAX_NORM = 0.02, 0.8, 0.1, 0.4
RULES = {
    "plain": (Plain(), oracle.Rule(NET)),
    "sam": (Sam(0.05), oracle.Rule(NET, rho=0.05)),
    "shapo": (Shapo(2e-3, tolerance=1e-13), oracle.Rule(NET, radius=2e-3, damping=0.2)),
    "far": (Shapo(0.3, tolerance=1e-13), oracle.Rule(NET, radius=0.3, damping=1e-3)),
}

pytestmark = pytest.mark.xdist_group("ppo")


@functools.cache
def both(rule, epochs=2, stop_kl=1.0, size=ROWS):
    """Parameters, Adam's memory, KL and epochs: as the library finds them, and by hand; and the Adam that did it."""
    params = policy(hidden=HIDDEN)
    rows = samples(params, rows=size)
    gradient, by_hand = RULES[rule]
    algorithm = ppo(
        gradient=gradient, rate=RATE, clip=CLIP, epochs=epochs, minibatch=SIZE, stop_kl=stop_kl,
        max_norm=MAX_NORM,
        solver=FisherSolver(by_hand.damping, iterations=300, tolerance=1e-13, thinning=1),
    )  # fmt: skip
    moved, state, metrics = jax.jit(algorithm.update)(
        params, algorithm.init(params), rows, progress(remaining=REMAINING), KEY
    )
    theta = np.asarray(flat(params))
    memory = [leaf for leaf in jax.tree.leaves(state.step) if leaf.size == theta.size]
    found = flat(moved), *memory, metrics["policy/kl"], metrics["policy/epochs"]

    adam = oracle.Adam(theta.size, MAX_NORM)
    theta, kl, epochs = oracle.epochs(
        by_hand, oracle.clipped(NET, CLIP), theta, data(rows), orders(size, SIZE, epochs), rate=RATE * REMAINING,
        stop_kl=stop_kl, adam=adam, watched=thinned(size, WATCHED if size == LARGE else 1),
    )  # fmt: skip
    return found, (theta, adam.m, adam.v, kl, epochs), adam


def equal(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_epochs_of_minibatches(rule):
    """Each minibatch measures its slope near the parameters it starts from."""
    found, expected, adam = both(rule)
    equal(found, expected)
    assert adam.t == 2 * (ROWS // SIZE)


def test_focops_measures_from_where_the_epochs_began_in_each_state_by_itself():
    params, region = policy(hidden=HIDDEN), 0.03
    rows, theta = samples(params, rows=ROWS), np.asarray(flat(params))
    step = Epochs(rate=RATE, loss=FirstOrder(1.5, region), epochs=2, minibatch=SIZE, stop_kl=1.0)
    moved, *_ = jax.jit(step.update)(
        params, step.init(params), rows, rows.reward_advantage, progress(), KEY
    )
    expected, *_ = oracle.epochs(
        oracle.Rule(NET), oracle.first_order(NET, theta, 1.5, region), theta, data(rows),
        orders(ROWS, SIZE, 2), rate=RATE, stop_kl=1.0, adam=oracle.Adam(theta.size, step.max_norm),
    )  # fmt: skip
    assert 0.1 < np.mean(NET.apart(expected, theta, data(rows))[0] > region) < 0.9
    np.testing.assert_allclose(flat(moved), expected, rtol=1e-6, atol=1e-12)


def test_adam_remembers_the_batch_before():
    params = policy(hidden=HIDDEN)
    rows = samples(params, rows=ROWS)
    algorithm = ppo(rate=RATE, clip=CLIP, epochs=1, minibatch=SIZE, stop_kl=1.0, max_norm=MAX_NORM)
    update = jax.jit(algorithm.update)
    theta, adam, state = np.asarray(flat(params)), oracle.Adam(flat(params).size, MAX_NORM), None
    for _ in range(2):
        state = algorithm.init(params) if state is None else state
        params, state, _ = update(params, state, rows, progress(), KEY)
        theta, *_ = oracle.epochs(
            oracle.Rule(NET), oracle.clipped(NET, CLIP), theta, data(rows), orders(ROWS, SIZE, 1),
            rate=RATE, stop_kl=1.0, adam=adam,
        )  # fmt: skip
        np.testing.assert_allclose(flat(params), theta, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("rows", [20_000, 2**18 + 100])
def test_minibatches_are_shuffled_whatever_the_number_of_rows(rows):
    """Each holds rows of all times: the spread of their means is that of independent draws."""
    size = 64
    found = np.asarray(minibatches(KEY, rows, size))
    assert found.shape == (rows // size, size) and len(np.unique(found)) == found.size
    expected = rows / np.sqrt(12 * size)
    assert 0.85 * expected < found.mean(axis=1).std() < 1.15 * expected


def test_these_epochs_clip_whatever_can_be_clipped():
    _, expected, adam = both("plain")
    assert 0 < adam.clipped < adam.t
    rows = data(samples(policy(hidden=HIDDEN), rows=ROWS))
    ratio = np.exp(NET.log_prob(expected[0], rows)[0] - rows.log_prob)
    assert 0.1 < np.mean(np.abs(ratio - 1) > CLIP) < 0.9


@pytest.mark.parametrize(("rule", "shortened"), [("shapo", False), ("far", True)])
def test_these_worst_policies_are_shortened_or_not(rule, shortened):
    params = policy(hidden=HIDDEN)
    theta, batch = np.asarray(flat(params)), data(samples(params, rows=ROWS))
    rows = batch[orders(ROWS, SIZE, 1)[0][0]]
    by_hand = RULES[rule][1]
    fraction = by_hand.fraction(theta, rows, by_hand.ascent(theta, rows, oracle.clipped(NET, CLIP)))
    assert (0 < fraction < 1) == shortened


def test_the_epoch_that_moved_too_far_is_the_last():
    kl = both("plain")[1][3]
    found, expected, _ = both("plain", epochs=6, stop_kl=0.99 * kl)
    equal(found, expected)
    assert expected[-1] == 2


def test_in_a_large_batch_a_few_states_decide_when_to_stop():
    """At a threshold between the KL of a few and that of all, the few are followed."""
    found, (theta, _, _, kl, _), _ = both("plain", epochs=1, size=LARGE)
    params = policy(hidden=HIDDEN)
    obs = data(samples(params, rows=LARGE)).obs[thinned(LARGE, WATCHED)]
    watched = NET.kl(np.asarray(flat(params)), theta, obs)
    assert 0.01 < abs(watched / kl - 1) < 0.1
    found, expected, _ = both("plain", stop_kl=(watched + kl) / 2, size=LARGE)
    equal(found, expected)
    assert expected[-1] == (2 if watched < kl else 1)
