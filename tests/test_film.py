"""Films: what they show is the episode, and what is written under it are its numbers."""

import re

import numpy as np
import pytest
from PIL import ImageDraw
from test_evaluate import POLICY, Endless, Reshaped, play, write_priced_run
from toy_env import Priced, Toy

from shapo import film as film_module
from shapo.cli import main as cli
from shapo.evaluate import first_seed
from shapo.film import PAPER, Frame, captioned, film, together


def test_a_film_is_one_episode_with_its_return_and_cost():
    frames = list(film(POLICY, Toy(1), size=16))
    ((total, cost, length, _),) = play(0, 1)
    assert len(frames) == length + 1 and frames[0].picture.shape == (16, 16, 3)
    assert [frame.step for frame in frames] == list(range(length + 1))
    assert [frame.last for frame in frames] == [False] * length + [True]
    np.testing.assert_allclose((frames[-1].earned, *frames[-1].costs), (total, cost), rtol=1e-6)
    assert (frames[0].earned, frames[0].costs) == (0, (0,))
    fewer = list(film(POLICY, Toy(1), size=16, every=3))
    np.testing.assert_array_equal(
        [frame.picture for frame in fewer[:-1]], [frame.picture for frame in frames[:-1:3]]
    )


def test_a_film_tells_what_the_task_pays():
    *_, last = film(POLICY, Toy(1), size=16)
    *_, reshaped = film(POLICY, Reshaped(1), size=16)
    assert reshaped.earned == last.earned


def test_an_episode_without_an_end_is_cut():
    frames = list(film(POLICY, Endless(1), size=16, max_steps=60))
    assert len(frames) == 60 and not frames[-1].last


def test_of_films_together_the_shorter_one_stands_still():
    frame = lambda step: Frame(np.zeros((4, 4, 3), np.uint8), step, 0.0, (0.0,), False)
    found = together([iter([frame(0), frame(1), frame(2)]), iter([frame(7)])])
    assert [tuple(each.step for each in frames) for frames in found] == [(0, 7), (1, 7), (2, 7)]


def test_each_cost_is_counted_by_itself():
    env = Priced(1)
    *_, last = film(POLICY, env, size=16)
    obs, costs, done = env.reset(first_seed(0)), np.zeros(2), False
    while not done:
        step = env.step(POLICY.act(obs))
        obs, costs, done = step.obs, costs + step.cost[0], bool(step.terminated | step.truncated)
    assert last.costs == tuple(costs) and min(costs) >= 0 < max(costs)


@pytest.mark.parametrize(
    ("costs", "limits", "text", "too_much"),
    [
        ((24.0,), (25.0,), "cost 24 of 25", False),
        ((26.0,), (25.0,), "cost 26 of 25", True),
        ((12.0, 3.0), (25.0, 5.0), "cost 12 of 25, 3 of 5", False),
        ((12.0, 6.0), (25.0, 5.0), "cost 12 of 25, 6 of 5", True),
        ((26.0, 3.0), (25.0, 5.0), "cost 26 of 25, 3 of 5", True),
    ],
)
def test_a_caption_is_red_once_any_cost_has_passed_its_limit(
    monkeypatch, costs, limits, text, too_much
):
    written = []
    draw = ImageDraw.ImageDraw.text

    def noted(self, place, words, *style):
        font = style[-1]
        written.append((words, place[0] + self.textlength(words, font)))
        draw(self, place, words, *style)

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", noted)
    picture = np.full((140, 140, 3), 77, np.uint8)
    found = captioned(Frame(picture, 5, 1.5, costs, False), "TRPO", limits)
    assert text in [words for words, _ in written]
    large = np.full((480, 480, 3), 77, np.uint8)
    captioned(Frame(large, 5, 1.5, costs * 2, False), "TRPO", limits * 2)
    assert max(end for _, end in written[-3:]) <= 480
    assert found.shape == (160, 140, 3)
    np.testing.assert_array_equal(found[:140], picture)
    caption = found[140:]
    assert (caption == PAPER).all(-1).any() and not (caption == PAPER).all()
    red = caption[..., 0].astype(int) - caption[..., 2] > 40
    assert red.any() == too_much


def test_a_run_with_several_limits_is_filmed_with_each(capsys, tmp_path, monkeypatch):
    pytest.importorskip("imageio")
    folder = write_priced_run(tmp_path / "run")
    seen = []
    draw = film_module.captioned
    monkeypatch.setattr(
        film_module, "captioned", lambda *given: seen.append(given[2]) or draw(*given)
    )
    out = tmp_path / "film.gif"
    words = ["play", folder, "--env", "toy_env:Priced", "--out", out, "--size", "64"]
    said = []
    monkeypatch.setattr("rich.status.Status.update", lambda _, text: said.append(text))
    cli.main(list(map(str, words)))
    assert set(seen) == {(25.0, 5.0)}
    printed = capsys.readouterr()
    assert re.search(r"return -?[\d.]+, cost [\d.]+, [\d.]+\n", printed.out)
    assert said[:2] == ["filming: 1 frame", "filming: 2 frames"], "a film takes a minute or two"
    assert "filming" not in printed.err, "but nothing of that where there is no terminal"
