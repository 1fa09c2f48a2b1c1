"""The mathematics: what is climbed, where the slope is measured, how far to go. Pure functions of arrays."""
