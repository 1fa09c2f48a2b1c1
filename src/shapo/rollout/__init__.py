"""Collecting experience: workers step environments and fill one batch in shared memory. Never imports JAX."""
