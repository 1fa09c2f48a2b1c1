"""Trained agents to look at: an episode as pictures, with what it earned and what it cost written under each."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from shapo.envs.protocol import BatchEnv
from shapo.evaluate import MAX_STEPS, first_seed
from shapo.runs.policies import TrainedPolicy

PAPER, INK, PALE, TOO_MUCH = (255, 255, 255), (40, 40, 40), (120, 120, 120), (200, 30, 30)
CAPTION = 7
"""A caption takes one part in so many of a picture's height."""


class Frame(NamedTuple):
    """A moment of an episode."""

    picture: NDArray[np.uint8]
    """[size, size, 3]"""
    step: int
    earned: float
    """Return so far."""
    costs: tuple[float, ...]
    """Cost so far, of each signal."""
    last: bool
    """The episode ends here."""


def film(
    policy: TrainedPolicy,
    env: BatchEnv,
    seed: int = 0,
    stochastic: bool = False,
    size: int = 480,
    every: int = 1,
    max_steps: int = MAX_STEPS,
) -> Iterator[Frame]:
    """One episode of the first environment of `env`: a frame before every so many steps, and one of its last moment.

    An episode that goes on is cut after `max_steps`: its last frame is not `last`.
    """
    rng = np.random.default_rng(seed) if stochastic else None
    obs = env.reset(first_seed(seed))
    earned, costs, picture = 0.0, (0.0,) * env.num_costs, None
    for number in range(max_steps):
        if number % every == 0:
            picture = env.render(0, size, size)
            yield Frame(picture, number, earned, costs, False)
        step = env.step(policy.act(obs, rng))
        obs = step.obs
        earned += float((step.reward if step.task_reward is None else step.task_reward)[0])
        costs = tuple(map(sum, zip(costs, np.ravel(step.cost[0]).tolist(), strict=True)))
        if step.terminated[0] or step.truncated[0]:
            assert picture is not None  # of this episode: its environment shows the next one by now
            yield Frame(picture, number + 1, earned, costs, True)
            return


def together(films: Sequence[Iterator[Frame]]) -> Iterator[tuple[Frame, ...]]:
    """Several films at once; one that is over stands still until all are."""
    shown: list[Frame | None] = [None] * len(films)
    while True:
        new = [next(each, None) for each in films]
        if not any(new):
            return
        shown = [now or before for now, before in zip(new, shown, strict=True)]
        yield tuple(frame for frame in shown if frame)


def captioned(frame: Frame, name: str, limits: Sequence[float]) -> NDArray[np.uint8]:
    """The picture with its numbers below: red where any cost has passed its own limit."""
    height, width = frame.picture.shape[:2]
    band = -(-height // CAPTION)
    canvas = Image.new("RGB", (width, height + band), PAPER)
    canvas.paste(Image.fromarray(frame.picture), (0, 0))
    size = max(8, band * 0.36)
    draw, font = ImageDraw.Draw(canvas), ImageFont.load_default(size)
    line, margin = band / 2, band / 8
    draw.text((margin, height), name, PALE, font)
    draw.text((margin, height + line), f"return {frame.earned:.1f}", INK, font)
    pairs = list(zip(frame.costs, limits, strict=True))
    color = TOO_MUCH if any(cost > limit for cost, limit in pairs) else INK
    text = "cost " + ", ".join(f"{cost:.0f} of {limit:g}" for cost, limit in pairs)
    while size > 8 and draw.textlength(text, font) > width * 0.55:
        size = max(8, size - 1)
        font = ImageFont.load_default(size)
    draw.text((width * 0.45, height + line), text, color, font)
    return np.asarray(canvas)
