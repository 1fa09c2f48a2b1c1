"""Which kind of processor this is, and whose instructions numbers are made with.

Libraries that multiply matrices take the best instructions that they find, and each set of them adds in an order of its
own: the last bit differs, and a training makes another training of it. So they are held to the instructions that every
x86 processor has had since about 2015 (AVX2 and FMA), where these are there, and numbers are the same on all of them.
"""

import functools
import importlib.metadata
import os
import sys

COMMON = "x86-64-v3"
"""What is common, by its usual name."""
KNOWN_XLA = ("0.10.",)
"""Of jaxlib, releases whose XLA knows the flag below; others end the process over a flag that they do not know."""
XLA_FLAG = "--xla_cpu_enable_platform_dependent_math=false"
LIBRARIES = {"OPENBLAS_CORETYPE": "Haswell", "ONEDNN_MAX_CPU_ISA": "AVX2"}
"""What NumPy's and SciPy's library and one of XLA's read in the environment when they are loaded."""


@functools.cache
def kind() -> str:
    """As LLVM calls it."""
    from llvmlite.binding import get_host_cpu_name  # takes longer than all the rest here

    return get_host_cpu_name()


def arithmetic() -> str:
    """What the last bits depend on: `COMMON` where it is there and not too late, else the kind of this processor."""
    late = xla_began() and any(os.environ.get(k) != v for k, v in environment().items())
    return COMMON if _is_there() and not late else kind()


def environment() -> dict[str, str]:
    """The variables that make it so in a process that has loaded nothing yet."""
    if not _is_there():
        return {}
    flags = os.environ.get("XLA_FLAGS", "").split()
    return LIBRARIES | {"XLA_FLAGS": " ".join([*(f for f in flags if f != XLA_FLAG), XLA_FLAG])}


def xla_began() -> bool:
    """Whether JAX has computed anything here, and listens to no variable any more; it has no public word for that."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    return getattr(bridge, "backends_are_initialized", lambda: False)()


@functools.cache
def _is_there() -> bool:
    from llvmlite.binding import get_host_cpu_features

    try:
        features = get_host_cpu_features()
    except RuntimeError:  # LLVM does not know them on every system
        features = {}
    known = importlib.metadata.version("jaxlib").startswith(KNOWN_XLA)
    return known and all(features.get(name) for name in ("avx2", "fma", "bmi2"))
