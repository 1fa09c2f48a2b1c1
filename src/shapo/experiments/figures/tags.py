"""Names beside points: each where it covers no other, nor a point, and stays within its panel."""

from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

PLACES = ((6, 5), (6, -10), (-5, 5), (-5, -10), (9, 15), (9, -20), (-8, 15), (-8, -20))
"""Offsets from a point, in typographic points, the nearest first; a name to the left of its point ends there."""


def keep_apart(picture: Picture) -> None:
    """Move the names on a picture that is drawn; one that is well where it is stays there."""
    picture.draw_without_rendering()  # where things are is known only once they are laid out
    for axes in picture.axes:
        taken = [_around(axes, line) for line in axes.lines if np.size(line.get_xdata()) == 1]
        for tag in axes.texts:
            if isinstance(tag, Annotation) and tag.get_text():
                taken.append(_moved(tag, axes.get_window_extent(), taken))


def _around(axes: Axes, point: Line2D) -> Bbox:
    [(x, y)] = axes.transData.transform(point.get_xydata())
    half = point.get_markersize() * axes.figure.dpi / 72 / 2
    return Bbox.from_extents(x - half, y - half, x + half, y + half)


def _moved(tag: Annotation, panel: Bbox, taken: Iterable[Bbox]) -> Bbox:
    """Put it where it covers least, and return what it covers."""

    def put(place: tuple[float, float]) -> Bbox:
        tag.xyann = place
        tag.set_horizontalalignment("left" if place[0] > 0 else "right")
        return tag.get_window_extent()

    def amiss(place: tuple[float, float]) -> float:
        own = put(place)
        outside = own.width * own.height - _shared(own, panel)
        return outside + sum(_shared(own, other) for other in taken)

    return put(min((tag.xyann, *PLACES), key=amiss))


def _shared(one: Bbox, other: Bbox) -> float:
    both = Bbox.intersection(one, other)
    return both.width * both.height if both else 0.0
