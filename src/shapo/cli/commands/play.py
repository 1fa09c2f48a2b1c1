"""`shapo play`: a film of a trained policy."""

import argparse
import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shapo.cli.parsing import Parser
from shapo.cli.trained import add_environment_options
from shapo.words import BadInput, at_least_one, whole_number

EXAMPLES = """\
examples:
  shapo play runs/ant
      One episode, into runs/ant/episode.mp4.
  shapo play runs/ant --seed 3 --every 1 --out ant.gif --size 240
      Another one, every frame of it, as a small GIF.
  shapo play runs/maze --env mytasks:Maze
      A run on an environment of your own: its code is imported only if you name it.
"""
FORMATS = (".mp4", ".gif")


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's folder")
    parser.add_argument("--out", type=Path, help="the film, .mp4 or .gif [RUN/episode.mp4]")
    parser.add_argument(
        "--seed", type=whole_number, default=0, metavar="INT", help="decides the episode [0]"
    )
    parser.add_argument(
        "--every", type=at_least_one, default=2, metavar="INT", help="film every so many steps [2]"
    )
    parser.add_argument(
        "--size", type=at_least_one, default=480, metavar="INT", help="pixels per side [480]"
    )
    parser.add_argument(
        "--max-steps",
        type=at_least_one,
        default=10_000,
        metavar="INT",
        help="cut an episode that goes on for longer [10000]",
    )
    add_environment_options(parser)
    parser.add_argument("--stochastic", action="store_true", default=False, help="sample actions")


def run(options: argparse.Namespace) -> None:
    """Film and save."""
    try:
        import imageio.v2 as imageio
    except ImportError:
        raise BadInput(
            "play needs the package imageio; install it with: pip install 'shapo[video]'"
        ) from None
    from shapo.evaluate import film, task_of
    from shapo.runs.folder import Run

    out = options.out if "out" in options else options.run / "episode.mp4"
    if out.suffix not in FORMATS:
        raise BadInput(f"{out}: a film's name ends in {' or '.join(FORMATS)}")
    trained = Run.open(options.run)
    policy = trained.policy
    env = task_of(trained, options.env, options.cost).build(1, options.seed)
    settings: dict[str, Any] = {"loop": 0} if out.suffix == ".gif" else {"macro_block_size": 1}
    frames = film(
        policy,
        env,
        options.seed,
        options.stochastic,
        options.size,
        options.every,
        options.max_steps,
    )
    # Whatever goes wrong, no half a film is left behind under the name asked for.
    unfinished = out.with_name(f".unfinished-{out.name}")
    try:
        _begin(unfinished, out)
        video: Any = imageio.get_writer(unfinished, fps=30, **settings)
        with video:
            ended = _append(video, frames)
        if not unfinished.exists() or not unfinished.stat().st_size:
            raise BadInput(f"{out}: the film could not be written; try another --size or a .gif")
        unfinished.replace(out)
    except NotImplementedError:
        raise BadInput(
            f"{options.env or trained.experiment.env} has no render(), so it cannot be filmed"
        ) from None
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        env.close()
    if not ended:
        print(
            f"the episode did not end and was cut after {options.max_steps:,} steps (--max-steps)"
        )
    print(f"film={out}")


def _begin(unfinished: Path, out: Path) -> None:
    """Make the file: the film's own program would say at length, and too late, that it cannot."""
    try:
        unfinished.touch()
    except OSError as error:
        raise BadInput(f"{out} cannot be written: {error.strerror}; choose another --out") from None


def _append(video: Any, frames: Generator[NDArray, None, bool]) -> bool:
    """Write every frame; whether the episode ended."""
    while True:
        try:
            video.append_data(_even(next(frames)))
        except StopIteration as end:
            return end.value


def _even(frame: NDArray) -> NDArray:
    """The frame with sides of an even length, which film formats insist on: the last line is repeated."""
    height, width = frame.shape[:2]
    return np.pad(frame, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
