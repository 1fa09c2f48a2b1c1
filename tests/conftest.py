"""Makes the tests' own modules importable wherever they lie (`problems`, `probes`, …), and compiling cheap."""

import os
import signal
import sys
from pathlib import Path

import pytest

from shapo.processor import environment

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Whoever starts the tests in the background has Ctrl-C ignored, in all that they start, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = Path(__file__).parent
sys.path[:0] = map(str, (HERE, *(path for path in HERE.iterdir() if path.is_dir())))
# A hundred processes import the same sources: whoever wants no bytecode written would have each compile them anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# The tests compile a hundred small programs and run each for a blink: optimising them would take longer than it saves.
# The last two halve the time once more. What is shipped is compiled by tests that clear these flags.
QUICK = (
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
    "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
)
os.environ["XLA_FLAGS"] = f"{QUICK} {os.environ.get('XLA_FLAGS', '')}"
# What was compiled once need not be again: not by the other process, nor by a command, nor in the next run of the
# tests. A program that has changed is another program.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(HERE.parent / ".pytest_cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
# Two processes share the cores: threads of each for its small matrices only wait for one another.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
# As the command sets them: JAX may be in use here before anything is trained.
os.environ["PJRT_NPROC"] = "2"
os.environ.update(environment())
os.environ["JAX_TRACEBACK_IN_LOCATIONS_LIMIT"] = "0"


@pytest.fixture
def hold(tmp_path, monkeypatch):
    """A file: until it is removed, whatever trains in `toy_env:Held` gets two batches and no third."""
    from toy_env import HOLD

    file = tmp_path / "hold"
    file.touch()
    monkeypatch.setenv(HOLD, str(file))
    return file
