"""Makes the tests' own modules importable as `laws.problems`, `probes`, …, and compiling cheap."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
# The tests compile a hundred small programs and run each for a blink: optimising them would take longer than it saves.
QUICK = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
os.environ["XLA_FLAGS"] = f"{QUICK} {os.environ.get('XLA_FLAGS', '')}"
