"""The updates once more, by hand: NumPy alone, no automatic differentiation, dense matrices in double precision.

A policy is one vector θ: weight and bias of each layer, then log σ. Everything else follows from `forward` and
`backward`.
"""

from dataclasses import dataclass, fields, replace

import numpy as np


@dataclass(frozen=True)
class Data:
    """Rows to learn from."""

    obs: np.ndarray
    action: np.ndarray
    log_prob: np.ndarray
    advantage: np.ndarray
    cost: np.ndarray
    """Cost advantages, for losses that want both."""

    def __getitem__(self, rows):
        return Data(*(getattr(self, field.name)[rows] for field in fields(self)))


class Mlp:
    """A tanh network of the given sizes with a Gaussian around its output."""

    def __init__(self, *sizes):
        self.sizes, self.actions = sizes, sizes[-1]

    def layers(self, theta):
        found, at = [], 0
        for n, m in zip(self.sizes[:-1], self.sizes[1:], strict=True):
            found.append((theta[at : at + n * m].reshape(n, m), theta[at + n * m : at + n * m + m]))
            at += n * m + m
        assert at + self.actions == len(theta)
        return found, theta[at:]

    def forward(self, theta, obs):
        """Means [B, A], and what each layer was given."""
        layers, _ = self.layers(theta)
        given = [obs]
        for weight, bias in layers[:-1]:
            given.append(np.tanh(given[-1] @ weight + bias))
        weight, bias = layers[-1]
        return given[-1] @ weight + bias, given

    def backward(self, theta, given, pull):
        """For each row, the gradient of pull · mean, [B, P]; log σ gets zeros."""
        layers, _ = self.layers(theta)
        rows, parts = len(pull), [np.zeros((len(pull), self.actions))]
        for (weight, _), x in zip(layers[::-1], given[::-1], strict=True):
            parts += [pull, np.einsum("bi,bj->bij", x, pull).reshape(rows, -1)]
            pull = (pull @ weight.T) * (1 - x**2)
        return np.concatenate(parts[::-1], axis=1)

    def log_prob(self, theta, data):
        mean, given = self.forward(theta, data.obs)
        log_std = self.layers(theta)[1]
        z = (data.action - mean) / np.exp(log_std)
        return (-0.5 * z**2 - log_std - 0.5 * np.log(2 * np.pi)).sum(1), z, given

    def outward(self, theta, data, by_mean, by_log_std):
        """∇θ of what has these slopes [B, A] by each row's mean and log σ."""
        _, given = self.forward(theta, data.obs)
        grads = self.backward(theta, given, by_mean).sum(0)
        grads[-self.actions :] = by_log_std.sum(0)
        return grads

    def weighted(self, theta, data, slope):
        """Σ slope · ∇log π, slope [B]."""
        _, z, _ = self.log_prob(theta, data)
        sigma, slope = np.exp(self.layers(theta)[1]), slope[:, None]
        return self.outward(theta, data, slope * z / sigma, slope * (z**2 - 1))

    def ratio(self, theta, data):
        return np.exp(self.log_prob(theta, data)[0] - data.log_prob)

    def loss(self, theta, data, clip=np.inf):
        """−E[min(ratio·A, clip(ratio)·A)] and its gradient."""
        ratio, a = self.ratio(theta, data), data.advantage
        value = -np.minimum(ratio * a, np.clip(ratio, 1 - clip, 1 + clip) * a).mean()
        flat = ((ratio > 1 + clip) & (a > 0)) | ((ratio < 1 - clip) & (a < 0))
        return value, self.weighted(theta, data, np.where(flat, 0.0, -ratio * a / len(a)))

    def apart(self, theta, other, data):
        """KL(π_θ‖π_other) of each row, and its slopes by mean and log σ of the first and of the second."""
        (p, q), (s, t) = (
            [self.forward(x, data.obs)[0] for x in (theta, other)],
            [self.layers(x)[1] for x in (theta, other)],
        )
        shift, spread = (p - q) * np.exp(-2 * t), np.exp(2 * (s - t))
        each = (t - s + (spread + (p - q) * shift - 1) / 2).sum(1)
        return each, (shift, spread - 1), (-shift, 1 - spread - (p - q) * shift)

    def kl(self, theta, other, obs):
        """E[KL(π_θ‖π_other)]"""
        (p, q), (s, t) = (
            [self.forward(x, obs)[0] for x in (theta, other)],
            [self.layers(x)[1] for x in (theta, other)],
        )
        apart = (np.exp(2 * s) + (p - q) ** 2) / (2 * np.exp(2 * t))
        return (t - s + apart - 0.5).sum(1).mean()

    def fisher(self, theta, obs, damping):
        """Σ_a E[∇μ_a ∇μ_aᵀ] / σ_a², 2 on the diagonal for log σ, and the damping."""
        _, given = self.forward(theta, obs)
        sigma = np.exp(self.layers(theta)[1])
        total = damping * np.eye(len(theta))
        total[-self.actions :, -self.actions :] += 2 * np.eye(self.actions)
        for axis, unit in enumerate(np.eye(self.actions)):
            rows = self.backward(theta, given, np.tile(unit, (len(obs), 1)))
            total += rows.T @ rows / len(obs) / sigma[axis] ** 2
        return total


class Chooser(Mlp):
    """The same network with a categorical distribution: its outputs are logits, and θ ends with the last layer."""

    def layers(self, theta):
        return super().layers(np.concatenate([theta, np.zeros(self.actions)]))

    def backward(self, theta, given, pull):
        return super().backward(theta, given, pull)[:, : -self.actions]

    def log_probs(self, theta, obs):
        logits, given = self.forward(theta, obs)
        return logits - np.log(np.exp(logits).sum(1, keepdims=True)), given

    def log_prob(self, theta, data):
        """The chosen ones', and their slopes by the logits."""
        log_probs, given = self.log_probs(theta, data.obs)
        chosen = np.eye(self.actions)[data.action[:, 0].astype(int)]
        return (chosen * log_probs).sum(1), chosen - np.exp(log_probs), given

    def weighted(self, theta, data, slope):
        _, score, given = self.log_prob(theta, data)
        return self.backward(theta, given, slope[:, None] * score).sum(0)

    def kl(self, theta, other, obs):
        p, q = (self.log_probs(x, obs)[0] for x in (theta, other))
        return (np.exp(p) * (p - q)).sum(1).mean()

    def fisher(self, theta, obs, damping):
        """E[∇log p ∇log pᵀ], every choice weighed by its probability, and the damping."""
        log_probs, given = self.log_probs(theta, obs)
        p, total = np.exp(log_probs), damping * np.eye(len(theta))
        for choice, unit in enumerate(np.eye(self.actions)):
            rows = self.backward(theta, given, unit - p)
            total += (p[:, choice, None] * rows).T @ rows / len(obs)
        return total


@dataclass(frozen=True)
class Rule:
    """Where the slope is measured: θ itself, θ + ρg/‖g‖ (sam) or the worst policy within a KL (shapo)."""

    net: Mlp
    rho: float | None = None
    radius: float | None = None
    damping: float = 0.0

    def ascent(self, theta, data, loss=None):
        """ε, before anyone looks at the KL that it causes."""
        _, g = (loss or self.net.loss)(theta, data)
        if self.rho is not None:
            return self.rho * g / np.linalg.norm(g)
        if self.radius is None:
            return np.zeros_like(g)
        x = np.linalg.solve(self.net.fisher(theta, data.obs, self.damping), g)
        return np.sqrt(2 * self.radius / (g @ x)) * x

    def fraction(self, theta, data, move):
        """How much of ε is within the radius: 1, 0.8, 0.8², …"""
        within = lambda f: self.net.kl(theta, theta + f * move, data.obs) <= self.radius
        if self.radius is None:
            return 1.0
        return next((f for f in 0.8 ** np.arange(10) if within(f)), 0.0)

    def grads(self, theta, data, loss=None):
        """∇L(θ + ε)"""
        move, loss = self.ascent(theta, data, loss), loss or self.net.loss
        return loss(theta + self.fraction(theta, data, move) * move, data)[1]


def clipped(net, clip):
    """PPO's loss."""
    return lambda theta, data: net.loss(theta, data, clip)


def first_order(net, start, temperature, region):
    """FOCOPS'."""

    def loss(theta, data):
        kl, (by_mean, by_log_std), _ = net.apart(theta, start, data)
        near, gain = kl <= region, net.ratio(theta, data) * data.advantage / temperature
        share = near[:, None] / len(kl)
        moved = net.outward(theta, data, share * by_mean, share * by_log_std)
        gained = net.weighted(theta, data, near * gain / len(kl))
        return np.where(near, kl - gain, 0.0).mean(), moved - gained

    return loss


def anchored(net, start):
    """CUP's second."""

    def loss(theta, data):
        kl, _, (by_mean, by_log_std) = net.apart(start, theta, data)
        value, grads = net.loss(theta, data)
        moved = net.outward(theta, data, by_mean / len(kl), by_log_std / len(kl))
        return kl.mean() + value, moved + grads

    return loss


def penalised(net, clip, weight, excess):
    """P3O's, for one cost."""

    def loss(theta, data):
        value, grads = net.loss(theta, data, clip)
        costly = replace(data, advantage=-data.cost)
        rise, cost_grads = net.loss(theta, costly, clip)
        over = rise - data.cost.mean() + excess
        return value + weight * max(over, 0.0), grads + weight * (over > 0) * cost_grads

    return loss


@dataclass
class Adam:
    """Kingma and Ba's Algorithm 1 behind a bound on the gradient's length."""

    size: int
    max_norm: float
    clipped: int = 0

    def __post_init__(self):
        self.m, self.v, self.t = np.zeros(self.size), np.zeros(self.size), 0

    def direction(self, g):
        length = np.linalg.norm(g)
        if length > self.max_norm:
            g, self.clipped = g * self.max_norm / length, self.clipped + 1
        self.t += 1
        self.m = 0.9 * self.m + 0.1 * g
        self.v = 0.999 * self.v + 0.001 * g**2
        m, v = self.m / (1 - 0.9**self.t), self.v / (1 - 0.999**self.t)
        return m / (np.sqrt(v) + 1e-8)


def epochs(rule, loss, theta, data, orders, *, rate, stop_kl, adam, watched=slice(None)):
    """Passes over minibatches until the policy has moved `stop_kl` where it is watched.

    orders[epoch] are the rows of each minibatch.
    """
    start, kl, passed = theta, 0.0, 0
    while passed < len(orders) and kl <= stop_kl:
        for rows in orders[passed]:
            theta = theta - rate * adam.direction(rule.grads(theta, data[rows], loss))
        kl, passed = rule.net.kl(start, theta, data.obs[watched]), passed + 1
    return theta, rule.net.kl(start, theta, data.obs), passed
