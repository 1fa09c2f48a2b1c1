"""Multilayer perceptrons with tanh, as plain trees of arrays."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from shapo.rules.categorical import Categorical
from shapo.rules.distributions import Distribution
from shapo.rules.gaussian import Gaussian
from shapo.rules.products import times


class Layer(NamedTuple):
    """x ↦ x·weight + bias"""

    weight: Array
    """[inputs, outputs]"""
    bias: Array
    """[outputs]"""


Mlp = tuple[Layer, ...]


class Policy(NamedTuple):
    """The actor's parameters: a network, whose outputs are mean actions or the logits of choices."""

    layers: Mlp
    log_std: Array | None
    """[A] of actions around their mean, whatever the state; None: actions are choices."""


def init_mlp(rng: np.random.Generator, sizes: Sequence[int]) -> Mlp:
    """Every weight and bias uniform in ±1/√inputs: PyTorch's default, which all published results used.

    Drawn by NumPy: JAX would compile a program for each shape, which takes seconds when it is done first.
    """

    def layer(inputs: int, outputs: int) -> Layer:
        bound = inputs**-0.5
        shapes = (inputs, outputs), (outputs,)
        return Layer(*(jnp.asarray(rng.uniform(-bound, bound, shape), float) for shape in shapes))

    return tuple(layer(*each) for each in itertools.pairwise(sizes))


def init_policy(
    rng: np.random.Generator,
    observation_size: int,
    hidden: Sequence[int],
    action_size: int,
    choices: int | None = None,
) -> Policy:
    """A policy whose actions are real numbers, with σ = 1; or each one of so many `choices`."""
    layers = init_mlp(rng, (observation_size, *hidden, choices or action_size))
    return Policy(layers, jnp.zeros(action_size) if choices is None else None)


def indifferent(policy: Policy) -> Policy:
    """The same with its last layer 0, whatever observations are normalised by: in every state the mean action is 0, or
    all choices are as likely."""
    *rest, last = policy.layers
    return policy._replace(layers=(*rest, Layer(*map(jnp.zeros_like, last))))


def init_critic(rng: np.random.Generator, observation_size: int, hidden: Sequence[int]) -> Mlp:
    """A network with one output."""
    return init_mlp(rng, (observation_size, *hidden, 1))


def inputs(layers: Mlp, x: Array) -> list[Array]:
    """What each layer is given: x, then the layer before's output through tanh."""
    given = [x]
    for layer in layers[:-1]:
        given.append(jnp.tanh(times(given[-1], layer.weight) + layer.bias))
    return given


def mlp(layers: Mlp, x: Array) -> Array:
    """tanh between layers, none after the last."""
    return times(inputs(layers, x)[-1], layers[-1].weight) + layers[-1].bias


def gram(layers: Mlp, x: Array) -> Array:
    """Inner products of the parameter gradients of all outputs in all rows, [A·B, A·B], outputs outermost.

    A weight's gradient is what its layer was given times what comes back to it, so an inner product of two gradients is
    a product of two inner products, and no gradient is ever formed.
    """
    *given, top = inputs(layers, x)
    same = lambda a: a @ a.T + 1.0  # the 1 is the bias's
    back = [weights * (1 - top**2) for weights in layers[-1].weight.T]
    pairs = [(i, j) for i in range(len(back)) for j in range(i, len(back))]
    blocks = {(i, j): same(top) * (i == j) for i, j in pairs}
    for layer, before in zip(layers[-2::-1], given[::-1], strict=True):
        forth = same(before)
        blocks = {(i, j): blocks[i, j] + forth * (back[i] @ back[j].T) for i, j in pairs}
        back = [(each @ layer.weight.T) * (1 - before**2) for each in back]
    block = lambda i, j: blocks[i, j] if i <= j else blocks[j, i].T
    return jnp.block([[block(i, j) for j in range(len(back))] for i in range(len(back))])


def act(policy: Policy, obs: Array) -> Distribution:
    """π(·|obs), for normalised observations [..., O]. What kind of distribution it is, is known here alone."""
    outputs = mlp(policy.layers, obs)
    if policy.log_std is None:
        return Categorical.of(outputs)
    return Gaussian(outputs, policy.log_std)


def value(critic: Mlp, obs: Array) -> Array:
    """V(obs), for normalised observations [..., O]. [...]"""
    return mlp(critic, obs)[..., 0]
