"""Many runs from one description: on this machine's cores or on a Ray cluster, and never twice.

grid      a file that describes runs → experiments
plan      experiments and a folder → which run goes where, and which are there already
sweep     the plan, an engine and a screen → finished runs
local, cluster   the two engines; both start `child` in a process of its own for each run, by way of `process`
"""

from shapo.experiments.sweep.sweep import Outcome, run

__all__ = ["Outcome", "run"]
