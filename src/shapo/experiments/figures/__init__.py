"""Every figure and table of the paper as a command: `shapo figure NAME`."""

from shapo.experiments.figures.figure import Arm, Figure, Result
from shapo.experiments.figures.making import NothingToDraw, Order, listing, make
from shapo.experiments.figures.registry import FIGURES

__all__ = ["FIGURES", "Arm", "Figure", "NothingToDraw", "Order", "Result", "listing", "make"]
