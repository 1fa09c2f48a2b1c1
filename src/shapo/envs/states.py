"""States of environments, put together: of several batches, or of one batch at several moments."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shapo.envs.protocol import BatchEnv


def joined(parts: Sequence[NDArray]) -> NDArray:
    """Along the environments; where they remember histories of different lengths, zeros fill the shorter ones.

    One batch may have whole numbers where another has fractions: what is put together can hold both.
    """
    shape = np.max([part.shape[1:] for part in parts], axis=0).astype(int)
    kind = np.result_type(*(part.dtype for part in parts))
    whole = np.zeros((sum(map(len, parts)), *shape), kind)
    begin = 0
    for part in parts:
        corner = tuple(slice(size) for size in part.shape[1:])
        whole[(slice(begin, begin + len(part)), *corner)] = part
        begin += len(part)
    return whole


def begin(
    batch: BatchEnv, seeds: Sequence[int | None], again: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Begin episodes where `again` says so, environment i's with `seeds[i]`; None: with what it draws next.

    All others stay where they are. Returns the observations to act on, [n, obs].

    A batch begins all its episodes at once, and knows one seed, which its first environment gets. So unless that is all
    that is asked for, each environment's state is taken from where the batch had it.
    """
    first = seeds[0]
    if again.all() and all(seed is None for seed in seeds):
        return batch.reset(None)
    if again.all() and first is not None and list(seeds) == [*range(first, first + len(seeds))]:
        return batch.reset(first)
    before = drawn = batch.get_state()
    if any(seed is None and begins for seed, begins in zip(seeds, again, strict=True)):
        batch.reset(None)
        drawn = batch.get_state()
    rows = []
    for i, (seed, begins) in enumerate(zip(seeds, again, strict=True)):
        state, row = (drawn if begins else before), i
        if begins and seed is not None:
            batch.reset(seed)
            state, row = batch.get_state(), 0
        rows.append({name: array[row : row + 1] for name, array in state.items()})
    return batch.set_state({name: joined([row[name] for row in rows]) for name in before})
