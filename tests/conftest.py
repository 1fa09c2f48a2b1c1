"""Makes the tests' own modules importable as `laws.problems`, `probes`, …"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
