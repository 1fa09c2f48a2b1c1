"""What is compiled is what the sources say, wherever Numba keeps it."""

import os
import subprocess
import sys
from pathlib import Path

from shapo.envs.navigation import compiled

ENTRY = """
from toy.compiled import entry
from toy.within import factor

@entry
def multiplied(x):
    return factor() * x

@entry
def multiplied_twice(x):
    return factor() * factor() * x
"""
WITHIN = """
from toy.compiled import inner

@inner
def factor():
    return {}
"""
PRINTED = """
from toy.entries import multiplied, multiplied_twice
print(multiplied(1), multiplied_twice(1), *(sum(f.stats.cache_hits.values()) for f in (multiplied, multiplied_twice)))
"""


def test_what_an_entry_calls_may_change(tmp_path):
    """Even if no file says when: installers keep the times that files had when they were packed."""
    toy, kept = tmp_path / "toy", tmp_path / "kept"
    toy.mkdir()
    (toy / "compiled.py").write_text(Path(compiled.__file__).read_text())
    (toy / "entries.py").write_text(ENTRY)
    within = toy / "within.py"

    def printed(factor):
        within.write_text(WITHIN.format(factor))
        os.utime(within, (0, 0))
        words = [sys.executable, "-B", "-c", PRINTED]
        env = os.environ | {"NUMBA_CACHE_DIR": str(kept), "PYTHONPATH": str(tmp_path)}
        return subprocess.run(
            words, env=env, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout.split()

    assert printed(3) == ["3", "9", "0", "0"]
    assert printed(3) == ["3", "9", "1", "1"]
    assert printed(5) == ["5", "25", "0", "0"]
    assert len([*kept.rglob("*.nbi")]) == 2, "what is outdated is gone"
