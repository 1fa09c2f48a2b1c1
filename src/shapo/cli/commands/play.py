"""`shapo play`: a film of a trained policy."""

import argparse
from pathlib import Path
from typing import Any

from shapo.cli.parsing import Parser
from shapo.words import at_least_one, whole_number

EXAMPLES = """\
examples:
  shapo play runs/ant
      One episode, into runs/ant/episode.mp4.
  shapo play runs/ant --seed 3 --every 1 --out ant.gif --size 240
      Another one, every frame of it, as a small GIF.
"""


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's folder")
    parser.add_argument(
        "--env", default=None, metavar="MODULE:FACTORY",
        help="the run's environment, where it is code of your own: no folder has code imported by itself",
    )  # fmt: skip
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
    parser.add_argument("--stochastic", action="store_true", default=False, help="sample actions")


def run(options: argparse.Namespace) -> None:
    """Film and save."""
    try:
        import imageio.v2 as imageio
    except ImportError:
        raise ValueError(
            "play needs the package imageio; install it with: pip install 'shapo[video]'"
        ) from None
    from shapo.cli.trust import trusted_environment
    from shapo.evaluate import film
    from shapo.rollout.task import Task
    from shapo.runs.folder import Run

    trained = Run.open(options.run)
    policy = trained.policy
    factory = trusted_environment(trained, options.env)
    env = Task(trained.experiment, factory).build(1, options.seed)
    out = options.out if "out" in options else options.run / "episode.mp4"
    settings: dict[str, Any] = {"loop": 0} if out.suffix == ".gif" else {"macro_block_size": 1}
    frames = film(policy, env, options.seed, options.stochastic, options.size, options.every)
    video: Any = imageio.get_writer(out, fps=30, **settings)
    with video:
        for frame in frames:
            video.append_data(frame)
    env.close()
    print(f"film={out}")
