"""The compiled random stream against NumPy's own."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shapo.envs.navigation import stream

draws = st.lists(st.sampled_from(["uniform", "choice", "binomial"]), min_size=1, max_size=40)


def _start(seed):
    words = np.empty(stream.WORDS, np.uint32)
    stream.start(seed, words)
    return words


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), draws=draws, skip=st.integers(0, 1300))
def test_draws_what_numpy_draws(seed, draws, skip):
    numpy, words = np.random.RandomState(seed), _start(seed)
    numpy.random_sample(skip)
    for _ in range(skip):
        stream.skip_double(words)
    for draw in draws:
        if draw == "uniform":
            assert stream.uniform(words, -1.3, 0.7) == numpy.uniform(-1.3, 0.7)
        elif draw == "choice":
            assert stream.one_of_four(words) == numpy.choice(4)
        else:
            assert numpy.binomial(10, 1.0) == 10
            stream.skip_double(words)


def test_words_equal_numpys():
    numpy, words = np.random.RandomState(7), _start(7)
    drawn = [int(stream.word(words)) for _ in range(2000)]
    assert drawn == numpy.randint(0, 2**32, 2000, np.uint64).astype(np.uint32).tolist()
