"""`shapo play`: a film of a trained policy."""

import argparse
import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shapo.cli.parsing import Parser, file_named
from shapo.cli.trained import add_trial_options
from shapo.words import BadInput, at_least_one, counted, whole_number

if TYPE_CHECKING:
    from shapo.film import Frame
    from shapo.runs.folder import Run

EXAMPLES = """\
examples:
  shapo play runs/ant
      One episode, into runs/ant/episode.mp4.
  shapo play runs/ant --seed 3 --every 1 --out ant.gif --size 240
      Another one, every frame of it, as a small GIF.
  shapo play runs/trpo runs/shapo --out both.mp4
      Two agents side by side, in the same episode.
  shapo play runs/maze --env mytasks:Maze
      A run on an environment of your own: its code is imported only if you name it.

Under each agent stand its return and its cost so far, red once the cost has passed the limit; several costs each beside
their own.
"""


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN", help="a run's folder; several: side by side"
    )
    parser.add_argument(
        "--out", type=file_named("a film", ".mp4", ".gif"),
        help="the film, .mp4 or .gif [RUN/episode.mp4]",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=whole_number, default=0, metavar="INT", help="decides the episode [0]"
    )
    parser.add_argument(
        "--every", type=at_least_one, default=2, metavar="INT", help="film every so many steps [2]"
    )
    parser.add_argument(
        "--size", type=at_least_one, default=480, metavar="INT", help="pixels per side [480]"
    )
    add_trial_options(parser)
    parser.add_argument("--stochastic", action="store_true", default=False, help="sample actions")


def run(options: argparse.Namespace) -> None:
    """Film and save."""
    try:
        import imageio.v2  # noqa: F401
    except ImportError:
        raise BadInput(
            "play needs the package imageio; install it with: pip install 'shapo[video]'"
        ) from None
    from shapo.evaluate import blueprint_of
    from shapo.film import film, together
    from shapo.runs.folder import Run

    out = options.out if "out" in options else options.runs[0] / "episode.mp4"
    runs = [Run.open(folder) for folder in options.runs]
    blueprints = [blueprint_of(trained, options.env, options.cost) for trained in runs]
    with contextlib.ExitStack() as opened:
        envs = [
            opened.enter_context(contextlib.closing(blueprint.build_to_draw(options.seed)))
            for blueprint in blueprints
        ]
        films = [
            film(trained.policy, env, options.seed, options.stochastic, options.size, options.every,
                 options.max_steps)
            for trained, env in zip(runs, envs, strict=True)
        ]  # fmt: skip
        try:
            shown = _write(out, together(films), runs)
        except NotImplementedError:
            raise BadInput(
                f"{options.env or runs[0].experiment.env} has no render(), so it cannot be filmed"
            ) from None
    for trained, frame in zip(runs, shown, strict=True):
        costs = ", ".join(f"{cost:g}" for cost in frame.costs)
        print(f"{_name(trained)}: return {frame.earned:.2f}, cost {costs}")
        if not frame.last:
            print(f"its episode did not end and was cut after {options.max_steps:,} steps (--max-steps)")  # fmt: skip
    print(f"film={out}")


def _write(
    out: Path, moments: "Iterable[tuple[Frame, ...]]", runs: "Sequence[Run]"
) -> "tuple[Frame, ...]":
    """Make the film and return its last moment. Whatever goes wrong, no half of it is left under the name asked for."""
    import imageio.v2 as imageio
    from rich.console import Console

    unfinished = out.with_name(f".unfinished-{out.name}")
    settings: dict[str, Any] = {"loop": 0} if out.suffix == ".gif" else {"macro_block_size": 1}
    shown = ()
    try:
        _begin(unfinished, out)
        video: Any = imageio.get_writer(unfinished, fps=30, **settings)
        with video, Console(stderr=True).status("filming") as sign:  # on a terminal alone
            for number, shown in enumerate(moments, 1):
                video.append_data(_picture(shown, runs))
                sign.update(f"filming: {counted(number, 'frame')}")
        if not unfinished.exists() or not unfinished.stat().st_size:
            raise BadInput(f"{out}: the film could not be written; try another --size or a .gif")
        unfinished.replace(out)
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()
    return shown


def _begin(unfinished: Path, out: Path) -> None:
    """Make the file: the film's own program would say at length, and too late, that it cannot."""
    try:
        unfinished.touch()
    except OSError as error:
        raise BadInput(f"{out} cannot be written: {error.strerror}; choose another --out") from None


def _picture(frames: "Sequence[Frame]", runs: "Sequence[Run]") -> NDArray[np.uint8]:
    """Agents side by side, each with its numbers; sides of an even length, which film formats insist on."""
    from shapo.film import captioned

    parts = [
        captioned(frame, _name(trained), trained.experiment.cost_limit)
        for frame, trained in zip(frames, runs, strict=True)
    ]
    whole = np.hstack(parts)
    height, width = whole.shape[:2]
    return np.pad(whole, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")


def _name(trained: "Run") -> str:
    choice = trained.experiment
    return choice.algo if choice.gradient == "plain" else f"{choice.algo} · {choice.gradient}"
