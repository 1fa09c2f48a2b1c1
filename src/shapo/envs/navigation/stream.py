"""NumPy's `RandomState` inside compiled code: the Mersenne Twister, word for word.

The state of one stream is 625 words: the 624 of the generator and the position of the next one.
"""

import numpy as np

from shapo.envs.navigation.compiled import entry, inner

WORDS = 625
_N, _M = 624, 397
_UPPER, _LOWER = np.uint32(0x80000000), np.uint32(0x7FFFFFFF)
_TWIST = np.uint32(0x9908B0DF)


@entry
def start(seed, words):
    """Make `words` those of `numpy.random.RandomState(seed)`."""
    words[0] = seed
    for k in range(1, _N):
        last = np.uint64(words[k - 1])
        words[k] = np.uint64(1812433253) * (last ^ (last >> np.uint64(30))) + np.uint64(k)
    words[_N] = _N


@inner
def _twist(here, after, far):
    y = (here & _UPPER) | (after & _LOWER)
    mixed = far ^ (y >> np.uint32(1))
    return mixed ^ _TWIST if y & np.uint32(1) else mixed


@inner
def _refill(words):
    for k in range(_N - _M):
        words[k] = _twist(words[k], words[k + 1], words[k + _M])
    for k in range(_N - _M, _N - 1):
        words[k] = _twist(words[k], words[k + 1], words[k + _M - _N])
    words[_N - 1] = _twist(words[_N - 1], words[0], words[_M - 1])
    words[_N] = 0


@entry
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


@entry
def uniform(words, low, high):
    """`RandomState.uniform(low, high)`."""
    a, b = word(words) >> np.uint32(5), word(words) >> np.uint32(6)
    return low + (high - low) * ((a * 67108864.0 + b) / 9007199254740992.0)


@entry
def one_of_four(words):
    """`RandomState.choice(4)`."""
    return np.int64(word(words) & np.uint32(3))


@entry
def skip_double(words):
    """Draw one double and forget it, as `RandomState.binomial(10, 1.0)` does."""
    for _ in range(2):
        if words[_N] >= _N:
            _refill(words)
        words[_N] += np.uint32(1)
