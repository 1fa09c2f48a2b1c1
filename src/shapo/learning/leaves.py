"""A tree of arrays as named arrays and back, and where compiled code is kept between runs."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import keystr, tree_flatten_with_path, tree_unflatten
from numpy.typing import NDArray

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
        raise ValueError(
            f"the checkpoint is of another learner: {sorted(set(named) ^ set(arrays))} differ"
        )
    leaves = []
    for name, leaf in named.items():
        array = arrays[name]
        if np.shape(leaf) != array.shape or np.asarray(leaf).dtype != array.dtype:
            raise ValueError(
                f"the checkpoint's {name} is {array.dtype}{array.shape}, "
                f"the learner's {np.asarray(leaf).dtype}{np.shape(leaf)}"
            )
        leaves.append(jnp.asarray(array) if isinstance(leaf, jax.Array) else array)
    return tree_unflatten(structure, leaves)


def use_compilation_cache() -> None:
    """Keep compiled code in the user's cache folder, unless JAX_COMPILATION_CACHE_DIR says where."""
    if jax.config.jax_compilation_cache_dir is None:  # type: ignore[attr-defined]
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        jax.config.update("jax_compilation_cache_dir", str(base / "shapo" / "jax"))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
