"""Draw the small picture of every task that docs/environments.md shows: `python docs/draw_tasks.py`."""

from pathlib import Path

import imageio.v3 as imageio

from shapo import envs

FOLDER = Path(__file__).parent / "images" / "tasks"
SIZE = 200


def picture(id: str) -> Path:
    """Where the picture of a task lies; the velocity tasks look like the robots they are made of."""
    return FOLDER / f"{id}.png"


def main() -> None:
    """Draw the first moment of each task's first episode."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for id in envs.IDS:
        if "Velocity" not in id:
            env = envs.make(id, num_envs=1)
            imageio.imwrite(picture(id), env.render(0, SIZE, SIZE))
            env.close()


if __name__ == "__main__":
    main()
