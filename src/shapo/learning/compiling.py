"""How XLA is set up, so that what is learned is a function of the experiment alone.

XLA cuts a large sum into as many parts as it has threads, and adds the parts: another number of threads gives another
last bit, and a training amplifies it. So the number of parts is fixed, whatever the machine: on one core two threads
take turns, on many cores two of them work. And so are the instructions (`shapo.processor`).
"""

import os
import shlex
import warnings
from pathlib import Path

import jax

from shapo import processor
from shapo.words import BadInput

THREADS = 2
"""Of the learner. Two share the policy's update; the critics, two or more, are fitted on a thread each."""


def prepare() -> None:
    """Fix threads and instructions, and keep compiled code in the user's cache folder between runs.

    To be called before JAX computes anything. `JAX_COMPILATION_CACHE_DIR` says where else the code may lie.
    """
    if jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        raise BadInput(
            "JAX is set to double precision, and batches are single: unset JAX_ENABLE_X64, or say "
            'jax.config.update("jax_enable_x64", False)'
        )
    wanted = {"PJRT_NPROC": str(THREADS)} | processor.environment()
    changed = {name: value for name, value in wanted.items() if os.environ.get(name) != value}
    if changed and processor.xla_began():
        first = " ".join(f"{name}={shlex.quote(value)}" for name, value in changed.items())
        warnings.warn(
            "JAX was in use before shapo could fix its threads and instructions: results are exact, but may differ in "
            f"the last bits from those of the command line; set {first} first to avoid that",
            stacklevel=2,
        )
    else:
        os.environ.update(changed)
    # Where in the source each operation stands is of use only to who reads a program, and takes a tenth of the start.
    jax.config.update("jax_traceback_in_locations_limit", 0)
    if jax.config.jax_compilation_cache_dir is None:  # type: ignore[attr-defined]
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        jax.config.update("jax_compilation_cache_dir", str(base / "shapo" / "jax"))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


def require_constant(rules: object) -> None:
    """Raise BadInput unless rules can be compiled in: they must not change afterwards, and so have a hash."""
    try:
        hash(rules)
    except TypeError as error:  # which names the culprit; JAX shows all else before it
        raise BadInput(
            f"{error}: what is compiled must not change; make each rule a frozen dataclass of numbers and tuples"
        ) from None
