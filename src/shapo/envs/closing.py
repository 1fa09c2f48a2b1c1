"""Environments that were made and then turn out not to be usable are closed: one may hold a port or a window."""

import contextlib
from collections.abc import Iterator

from shapo.envs.protocol import BatchEnv


@contextlib.contextmanager
def closed_if_refused(env: BatchEnv) -> Iterator[None]:
    """Close `env` if what is within raises; should it not even close, what was raised first is told."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):
            env.close()
        raise
