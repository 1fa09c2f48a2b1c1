"""A tree of arrays as named arrays and back."""

from collections.abc import Mapping
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import keystr, tree_flatten_with_path, tree_unflatten
from numpy.typing import NDArray

from shapo.words import BadInput

Tree = TypeVar("Tree")


def flatten(tree: object) -> dict[str, NDArray]:
    """Every leaf under the name of its path."""
    paths_and_leaves, _ = tree_flatten_with_path(tree)
    return {keystr(path): np.asarray(leaf) for path, leaf in paths_and_leaves}


def unflatten(like: Tree, arrays: Mapping[str, NDArray]) -> Tree:
    """A tree shaped as `like` with the leaves that `flatten` named; raises ValueError if they do not fit."""
    paths_and_leaves, structure = tree_flatten_with_path(like)
    named = {keystr(path): leaf for path, leaf in paths_and_leaves}
    if set(named) != set(arrays):
        raise BadInput(
            f"the checkpoint is of another learner: {sorted(set(named) ^ set(arrays))} differ"
        )
    leaves = []
    for name, leaf in named.items():
        array = arrays[name]
        if np.shape(leaf) != array.shape or np.asarray(leaf).dtype != array.dtype:
            raise BadInput(
                f"the checkpoint's {name} is {array.dtype}{array.shape}, "
                f"the learner's {np.asarray(leaf).dtype}{np.shape(leaf)}"
            )
        leaves.append(jnp.asarray(array) if isinstance(leaf, jax.Array) else array)
    return tree_unflatten(structure, leaves)


def not_finite(tree: object) -> str | None:
    """The name of a leaf that holds NaN or infinity, if there is one."""
    wrong = (name for name, leaf in flatten(tree).items() if not np.isfinite(leaf).all())
    return next(wrong, None)
