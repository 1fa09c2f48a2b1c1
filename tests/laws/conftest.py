"""The laws hold to rounding, so they are checked in double precision."""

import jax
import pytest


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield
