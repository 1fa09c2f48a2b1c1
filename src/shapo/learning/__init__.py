"""From a batch to a better policy: statistics, advantages, the update, the critics."""
