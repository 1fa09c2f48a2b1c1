"""The command `shapo`."""
