"""The few numbers that a run is known by, each said once: every table, picture and verdict takes them from here."""

from typing import Literal, NamedTuple

from shapo.runs.folder import Run

Span = Literal["in the end", "so far", "all along"]
"""A mean over the last tenth of the steps; the last value, of what sums up the training; a mean over all iterations."""


class Quantity(NamedTuple):
    """A column of `progress.csv`, and of which part of the training."""

    name: str
    column: str
    span: Span = "in the end"

    def of(self, run: Run) -> float:
        """What it comes to in a run; NaN if the run has no episode that ended."""
        history = run.history
        match self.span:
            case "in the end":
                return history.final(self.column)
            case "so far":
                return history.last(self.column)
            case "all along":
                return history.overall(self.column)


RETURN = Quantity("return", "reward/episode")
RETURN_ALL_ALONG = Quantity("return, all along", "reward/episode", "all along")
COST = Quantity("cost", "cost/episode")
COST_P80 = Quantity("cost p80", "cost/p80")
COST_P95 = Quantity("cost p95", "cost/p95")
COST_RATE = Quantity("cost rate", "cost/rate", "so far")
TOTAL_COST = Quantity("total cost", "cost/total", "so far")
FALLS = Quantity("falls", "termination/total", "so far")
COSINE = Quantity("cos(g, g̃)", "gradient/cosine")


def numbered(quantity: Quantity, cost: int) -> Quantity:
    """The same of one of several costs, counted from 1."""
    return quantity._replace(name=f"{quantity.name} {cost}", column=f"{quantity.column}_{cost}")
