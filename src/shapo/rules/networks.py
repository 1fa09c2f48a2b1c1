"""Multilayer perceptrons with tanh, as plain trees of arrays."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from shapo.rules.gaussian import Gaussian


class Layer(NamedTuple):
    """x ↦ x·weight + bias"""

    weight: Array
    """[inputs, outputs]"""
    bias: Array
    """[outputs]"""


Mlp = tuple[Layer, ...]


class Policy(NamedTuple):
    """The actor's parameters: a network for the mean and a standard deviation that ignores the state."""

    layers: Mlp
    log_std: Array
    """[A]"""


def init_mlp(key: Array, sizes: Sequence[int]) -> Mlp:
    """Every weight and bias uniform in ±1/√inputs: PyTorch's default, which all published results used."""
    keys = jax.random.split(key, (len(sizes) - 1, 2))

    def layer(keys: Array, inputs: int, outputs: int) -> Layer:
        bound = inputs**-0.5
        shapes = (inputs, outputs), (outputs,)
        return Layer(
            *(
                jax.random.uniform(k, s, minval=-bound, maxval=bound)
                for k, s in zip(keys, shapes, strict=True)
            )
        )

    return tuple(layer(*each) for each in zip(keys, sizes[:-1], sizes[1:], strict=True))


def init_policy(
    key: Array, observation_size: int, hidden: Sequence[int], action_size: int
) -> Policy:
    """A policy with σ = 1."""
    return Policy(init_mlp(key, (observation_size, *hidden, action_size)), jnp.zeros(action_size))


def indifferent(policy: Policy) -> Policy:
    """The same with its last layer 0: the mean action is 0 in every state, whatever observations are normalised by."""
    *rest, last = policy.layers
    return policy._replace(layers=(*rest, Layer(*map(jnp.zeros_like, last))))


def init_critic(key: Array, observation_size: int, hidden: Sequence[int]) -> Mlp:
    """A network with one output."""
    return init_mlp(key, (observation_size, *hidden, 1))


def mlp(layers: Mlp, x: Array) -> Array:
    """tanh between layers, none after the last."""
    for layer in layers[:-1]:
        x = jnp.tanh(x @ layer.weight + layer.bias)
    return x @ layers[-1].weight + layers[-1].bias


def act(policy: Policy, obs: Array) -> Gaussian:
    """π(·|obs), for normalised observations [..., O]."""
    return Gaussian(mlp(policy.layers, obs), policy.log_std)


def value(critic: Mlp, obs: Array) -> Array:
    """V(obs), for normalised observations [..., O]. [...]"""
    return mlp(critic, obs)[..., 0]
