"""Every algorithm as shipped (optimised, single precision, solves that begin with a sketch) against dense NumPy."""

import functools
import os
import subprocess
import sys
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import oracle
import pytest
import shipped
from problems import ACT, KEY, OBS, data, orders, progress
from shipped import COST, EXPERIMENT, HIDDEN, ROWS

from shapo.algorithms.cpo_as_released import released_mixture
from shapo.experiment import algos
from shapo.rules.constrained import Products, honest_mixture
from shapo.rules.doubt import LEAST_KEPT
from shapo.rules.losses import Penalised
from shapo.rules.surrogates import Samples

NET = oracle.Mlp(OBS, *HIDDEN, ACT)
DAMPING, REGION = EXPERIMENT.damping_per_dim * ACT, EXPERIMENT.radius_per_dim * ACT
RULES = {
    "plain": oracle.Rule(NET),
    "shapo": oracle.Rule(NET, radius=EXPERIMENT.pessimism * ACT, damping=DAMPING),
}

pytestmark = pytest.mark.xdist_group("shipped")


@pytest.fixture(scope="module")
def updates(tmp_path_factory):
    """What `shipped` found, in a process that knows nothing of the tests' flags: quick or slow ↦ arrays."""

    @functools.cache
    def found(speed):
        file = tmp_path_factory.mktemp("shipped") / "updates.npz"
        env = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
        env["PYTHONPATH"] = os.pathsep.join(sys.path)
        subprocess.run([sys.executable, shipped.__file__, str(file), speed], check=True, env=env)
        with np.load(file) as arrays:
            return dict(arrays)

    return lambda *case: found(shipped.speed_of(*case))


def every_case(family):
    """Of a family of algorithms; those whose programs few share are slow."""
    slow = [pytest.param(*case, marks=pytest.mark.slow) for case in shipped.cases("slow")]
    every = [pytest.param(*case) for case in shipped.cases("quick")] + slow
    return pytest.mark.parametrize(
        ("name", "rule"), [case for case in every if case.values[0] in family]
    )


class Update:
    """One case: where θ went, what was said of it, and the rows it learned from."""

    def __init__(self, updates, name, rule):
        updates = updates(name, rule)
        self.start = updates["theta"].astype(float)
        self.move = updates[f"{name}/{rule}/theta"] - self.start
        prefix = f"{name}/{rule}/"
        self.metrics = {
            key.removeprefix(prefix): x for key, x in updates.items() if key.startswith(prefix)
        }
        self.rule = RULES[rule]
        batch = Samples(*(updates[f"samples/{field}"] for field in Samples._fields))
        self.reward, self.cost = data(batch), data(batch, -batch.cost_advantage[:, 0])
        self.side = batch.side.astype(float)
        self.fisher = NET.fisher(self.start, batch.obs.astype(float), DAMPING)

    def natural(self, rows):
        """g and F⁻¹g"""
        g = self.rule.grads(self.start, rows)
        return g, np.linalg.solve(self.fisher, g)

    def rise(self, rows):
        """By how much the loss on these rows went up."""
        return NET.loss(self.start + self.move, rows)[0] - NET.loss(self.start, rows)[0]


def climbed(name, update):
    """The rows with the advantage that the algorithm climbs, given λ where it has one."""
    if name in ("crpo", "cpo-as-released"):  # at this excess
        return update.cost
    multiplier = update.metrics.get("policy/multiplier", 0.0)
    assert (multiplier > 0) == (name in (*algos.ASCENT, *algos.PID, *algos.BOUNDED, "ipo"))
    if name == "cup":  # whose multiplier is its correction's
        return update.reward
    mixed = update.reward.advantage + multiplier * update.cost.advantage
    return replace(update.reward, advantage=mixed / (1 if name == "focops" else 1 + multiplier))


def trust_region(name, update):
    """TRPO's step, before its line search."""
    g, x = update.natural(climbed(name, update))
    return -np.sqrt(2 * REGION / (g @ x)) * x


def promises(update):
    """Inner products of the two slopes, and what following them does to the cost: what is true of the plain slopes'
    directions, as far as the rule's go along them."""
    (g_rule, x), (b_rule, y) = update.natural(update.reward), update.natural(update.cost)
    g, b = (NET.loss(update.start, rows)[1] for rows in (update.reward, update.cost))
    noise = lambda rows: replace(rows, advantage=update.side * rows.advantage)
    disagreed = [NET.loss(update.start, noise(rows))[1] for rows in (update.reward, update.cost)]
    inner = lambda u, v: u @ np.linalg.solve(update.fisher, v)
    share_r = (inner(g, b) - inner(*disagreed)) / np.sqrt(inner(g, g) * inner(b, b))
    share_s = np.clip(1 - inner(disagreed[1], disagreed[1]) / inner(b, b), LEAST_KEPT, 1)
    kept_r = share_r * np.sqrt(inner(b, b) / inner(g, g)) * (g @ x)
    numbers = g_rule @ x, g_rule @ y, b_rule @ y, kept_r, share_s * (b @ y)
    return Products(*map(jnp.asarray, numbers))


def constrained(name, update):
    """CPO's step, before its line search."""
    (_, x), (_, y) = update.natural(update.reward), update.natural(update.cost)
    products = promises(update)
    excess = jnp.asarray(update.metrics["policy/excess"], float)
    if name == "cpo-as-released":
        found = released_mixture(*products[:3], excess, REGION)
    else:
        found = honest_mixture(products, excess, REGION)  # this is the first batch
    return -(float(found.reward) * x + float(found.cost) * y)


def projected(name, update):
    """PCPO's step, before its line search; where it had to go back it is as long as the trust region lets it."""
    (g, x), (_, y) = update.natural(update.reward), update.natural(update.cost)
    counted = promises(update)
    length = np.sqrt(2 * REGION / (g @ x))
    excess = float(update.metrics["policy/excess"])
    units = max((excess - length * float(counted.kept_r)) / float(counted.kept_s), 0.0)
    assert units > 0
    whole = -length * x - units * y
    return min(1.0, np.sqrt(2 * REGION / (whole @ update.fisher @ whole))) * whole


STEPS = {"cpo": constrained, "cpo-as-released": constrained, "pcpo": projected}


def close(move, expected, angle):
    cosine = move @ expected / np.linalg.norm(move) / np.linalg.norm(expected)
    assert cosine > 1 - angle
    np.testing.assert_allclose(np.linalg.norm(move), np.linalg.norm(expected), rtol=0.01)


@every_case(algos.TRUST_REGION)
def test_a_step_in_a_trust_region(updates, name, rule):
    update = Update(updates, name, rule)
    metrics = update.metrics
    step = STEPS.get(name, trust_region)(name, update)
    close(update.move, metrics["policy/fraction"] * step, 0.005)
    kl = NET.kl(update.start, update.start + update.move, update.reward.obs)
    assert 0 < kl <= REGION * (1 + 1e-5)
    np.testing.assert_allclose(metrics["policy/kl"], kl, rtol=1e-4)
    assert update.rise(update.cost if name == "pcpo" else climbed(name, update)) < 0
    # The sketch was there: on its own the whole needs more.
    assert metrics["policy/cg_iterations"] <= 3


def losses(name, update):
    """What the epochs minimise."""
    match name:
        case "focops":
            temperature, region = EXPERIMENT.focops_temperature, EXPERIMENT.ppo_stop_kl
            return oracle.first_order(NET, update.start, temperature, region)
        case "p3o":
            length = float(progress().episode_length) * Penalised.believed
            excess = (COST - EXPERIMENT.cost_limit[0]) / length
            return oracle.penalised(NET, EXPERIMENT.ppo_clip, EXPERIMENT.p3o_weight, excess)
    return oracle.clipped(NET, EXPERIMENT.ppo_clip)


@every_case(algos.EPOCHS)
def test_epochs_of_minibatches(updates, name, rule):
    update = Update(updates, name, rule)
    rows, start = climbed(name, update), update.start

    def epochs(loss, theta, rows, key=KEY):
        return oracle.epochs(
            update.rule, loss, theta, rows, orders(ROWS, EXPERIMENT.ppo_minibatch, EXPERIMENT.ppo_epochs, key),
            rate=EXPERIMENT.ppo_rate, stop_kl=EXPERIMENT.ppo_stop_kl, adam=oracle.Adam(start.size, max_norm=40.0),
        )  # fmt: skip

    theta, kl, passed = epochs(losses(name, update), start, rows)
    assert update.metrics["policy/epochs"] == passed == EXPERIMENT.ppo_epochs
    if name == "cup":
        price = update.metrics["policy/multiplier"] * (1 - 0.99 * 0.95) / (1 - 0.99)
        cheaper = replace(rows, advantage=price * update.cost.advantage)
        loss, key = oracle.anchored(NET, theta), jax.random.fold_in(KEY, 1)
        theta, back, _ = epochs(loss, theta, cheaper, key)
        np.testing.assert_allclose(update.metrics["correction/kl"], back, rtol=0.01)
        kl = NET.kl(start, theta, rows.obs)
    close(update.move, theta - start, 0.001)
    np.testing.assert_allclose(update.metrics["policy/kl"], kl, rtol=0.01)
    assert update.rise(rows) < 0
