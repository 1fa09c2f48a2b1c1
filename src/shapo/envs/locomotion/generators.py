"""Random generators seeded as Gymnasium seeds them, and their state as plain words."""

import numpy as np
from numpy.typing import NDArray

_LOW = (1 << 64) - 1


def seeded(seed: int) -> np.random.Generator:
    """The generator that Gymnasium's `reset(seed=seed)` draws from."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))


def to_words(generator: np.random.Generator) -> NDArray[np.uint64]:
    """The whole state of a PCG64 generator, [6]."""
    state = generator.bit_generator.state
    value, increment = state["state"]["state"], state["state"]["inc"]
    halves = [value >> 64, value & _LOW, increment >> 64, increment & _LOW]
    return np.array([*halves, state["has_uint32"], state["uinteger"]], np.uint64)


def from_words(words: NDArray[np.uint64]) -> np.random.Generator:
    """The generator whose state `to_words` wrote down."""
    high, low, increment_high, increment_low, has_half, half = (int(word) for word in words)
    bits = np.random.PCG64()
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": high << 64 | low, "inc": increment_high << 64 | increment_low},
        "has_uint32": has_half,
        "uinteger": half,
    }
    return np.random.Generator(bits)
