"""Films: what they show is the episode, and what is written under it are its numbers."""

import numpy as np
import pytest
from test_evaluate import POLICY, Endless, play
from toy_env import Toy

from shapo.film import PAPER, Frame, captioned, film, together


def test_a_film_is_one_episode_with_its_return_and_cost():
    frames = list(film(POLICY, Toy(1), size=16))
    ((total, cost, length, _),) = play(0, 1)
    assert len(frames) == length + 1 and frames[0].picture.shape == (16, 16, 3)
    assert [frame.step for frame in frames] == list(range(length + 1))
    assert [frame.last for frame in frames] == [False] * length + [True]
    np.testing.assert_allclose((frames[-1].earned, frames[-1].cost), (total, cost), rtol=1e-6)
    assert (frames[0].earned, frames[0].cost) == (0, 0)
    fewer = list(film(POLICY, Toy(1), size=16, every=3))
    np.testing.assert_array_equal(
        [frame.picture for frame in fewer[:-1]], [frame.picture for frame in frames[:-1:3]]
    )


def test_an_episode_without_an_end_is_cut():
    frames = list(film(POLICY, Endless(1), size=16, max_steps=60))
    assert len(frames) == 60 and not frames[-1].last


def test_of_films_together_the_shorter_one_stands_still():
    frame = lambda step: Frame(np.zeros((4, 4, 3), np.uint8), step, 0.0, 0.0, False)
    found = together([iter([frame(0), frame(1), frame(2)]), iter([frame(7)])])
    assert [tuple(each.step for each in frames) for frames in found] == [(0, 7), (1, 7), (2, 7)]


@pytest.mark.parametrize("cost", [24.0, 26.0])
def test_a_caption_is_red_once_the_cost_has_passed_the_limit(cost):
    picture = np.full((140, 140, 3), 77, np.uint8)
    found = captioned(Frame(picture, 5, 1.5, cost, False), "TRPO", 25.0)
    assert found.shape == (160, 140, 3)
    np.testing.assert_array_equal(found[:140], picture)
    caption = found[140:]
    assert (caption == PAPER).all(-1).any() and not (caption == PAPER).all()
    red = caption[..., 0].astype(int) - caption[..., 2] > 40
    assert red.any() == (cost > 25)
