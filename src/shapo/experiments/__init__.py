"""Many runs: sweeps, statistics, the figures of the paper and a report."""
