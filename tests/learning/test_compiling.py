"""What must be so before anything is compiled."""

import os

import jax
import pytest

from shapo.learning import compiling
from shapo.words import BadInput


def test_double_precision_is_refused_and_nothing_is_changed():
    """Batches and statistics are single: JAX would end in the middle of the first update, in words of its own."""
    before = dict(os.environ)
    with jax.enable_x64(True), pytest.raises(BadInput, match=r"double precision.*JAX_ENABLE_X64"):
        compiling.prepare()
    assert dict(os.environ) == before
