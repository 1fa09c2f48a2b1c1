"""The updates once more, by hand: NumPy alone, no automatic differentiation, dense matrices in double precision.

A policy is one vector θ: weight and bias of each layer, then log σ. Everything else follows from `forward` and
`backward`.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Data:
    """Rows to learn from."""

    obs: np.ndarray
    action: np.ndarray
    log_prob: np.ndarray
    advantage: np.ndarray

    def __getitem__(self, rows):
        return Data(self.obs[rows], self.action[rows], self.log_prob[rows], self.advantage[rows])


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

    def loss(self, theta, data, clip=np.inf):
        """−E[min(ratio·A, clip(ratio)·A)] and its gradient."""
        log_prob, z, given = self.log_prob(theta, data)
        ratio, a = np.exp(log_prob - data.log_prob), data.advantage
        value = -np.minimum(ratio * a, np.clip(ratio, 1 - clip, 1 + clip) * a).mean()
        flat = ((ratio > 1 + clip) & (a > 0)) | ((ratio < 1 - clip) & (a < 0))
        slope = np.where(flat, 0.0, -ratio * a / len(a))[:, None]  # ∂L/∂log π
        sigma = np.exp(self.layers(theta)[1])
        grads = self.backward(theta, given, slope * z / sigma).sum(0)
        grads[-self.actions :] = (slope * (z**2 - 1)).sum(0)
        return value, grads

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


@dataclass(frozen=True)
class Rule:
    """Where the slope is measured: θ itself, θ + ρg/‖g‖ (sam) or the worst policy within a KL (shapo)."""

    net: Mlp
    rho: float | None = None
    radius: float | None = None
    damping: float = 0.0

    def ascent(self, theta, data, clip=np.inf):
        """ε, before anyone looks at the KL that it causes."""
        _, g = self.net.loss(theta, data, clip)
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

    def grads(self, theta, data, clip=np.inf):
        """∇L(θ + ε)"""
        move = self.ascent(theta, data, clip)
        return self.net.loss(theta + self.fraction(theta, data, move) * move, data, clip)[1]


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


def ppo(rule, theta, data, orders, *, rate, clip, stop_kl, adam, watched=slice(None)):
    """Passes over minibatches until the policy has moved `stop_kl` where it is watched.

    orders[epoch] are the rows of each minibatch.
    """
    start, kl, epochs = theta, 0.0, 0
    while epochs < len(orders) and kl <= stop_kl:
        for rows in orders[epochs]:
            theta = theta - rate * adam.direction(rule.grads(theta, data[rows], clip))
        kl, epochs = rule.net.kl(start, theta, data.obs[watched]), epochs + 1
    return theta, rule.net.kl(start, theta, data.obs), epochs
