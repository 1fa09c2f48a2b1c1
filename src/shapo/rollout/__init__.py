"""Collecting experience: workers step environments and fill one batch in shared memory. Never imports JAX."""

from shapo.rollout.rollout import Experience, Rollout, RolloutError
from shapo.rollout.task import EnvFactory, Task

__all__ = ["EnvFactory", "Experience", "Rollout", "RolloutError", "Task"]
