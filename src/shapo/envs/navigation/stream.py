"""NumPy's `RandomState` inside compiled code: the Mersenne Twister, word for word.

The state of one stream is 625 words: the 624 of the generator and the position of the next one. `start` takes them
from NumPy itself; the functions here then draw what `RandomState` would draw.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

WORDS = 625
_N, _M = 624, 397
_UPPER, _LOWER = np.uint32(0x80000000), np.uint32(0x7FFFFFFF)
_TWIST = np.uint32(0x9908B0DF)


def start(seed: int) -> NDArray[np.uint32]:
    """The words of `numpy.random.RandomState(seed)`."""
    state = np.random.RandomState(seed).get_state(legacy=False)["state"]
    return np.append(state["key"], np.uint32(state["pos"])).astype(np.uint32)


@njit(cache=True, nogil=True)
def _refill(words):
    for k in range(_N):
        y = (words[k] & _UPPER) | (words[(k + 1) % _N] & _LOWER)
        mixed = words[(k + _M) % _N] ^ (y >> np.uint32(1))
        words[k] = mixed ^ _TWIST if y & np.uint32(1) else mixed
    words[_N] = 0


@njit(cache=True, nogil=True)
def word(words):
    """The next 32 bits."""
    if words[_N] >= _N:
        _refill(words)
    y = words[words[_N]]
    words[_N] += np.uint32(1)
    y ^= y >> np.uint32(11)
    y ^= (y << np.uint32(7)) & np.uint32(0x9D2C5680)
    y ^= (y << np.uint32(15)) & np.uint32(0xEFC60000)
    y ^= y >> np.uint32(18)
    return y


@njit(cache=True, nogil=True)
def uniform(words, low, high):
    """`RandomState.uniform(low, high)`."""
    a, b = word(words) >> np.uint32(5), word(words) >> np.uint32(6)
    return low + (high - low) * ((a * 67108864.0 + b) / 9007199254740992.0)


@njit(cache=True, nogil=True)
def one_of_four(words):
    """`RandomState.choice(4)`."""
    return np.int64(word(words) & np.uint32(3))


@njit(cache=True, nogil=True)
def skip_double(words):
    """Draw one double and forget it, as `RandomState.binomial(10, 1.0)` does."""
    for _ in range(2):
        if words[_N] >= _N:
            _refill(words)
        words[_N] += np.uint32(1)
