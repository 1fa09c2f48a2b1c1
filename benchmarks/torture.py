"""Break runs on purpose, in many ways and at random: nothing may be lost, executed or altered in silence.

    python benchmarks/torture.py --trials 200 --seed 0

Every trial has a number and draws everything from it and the seed, so that a failure can be had again: `--only NUMBER`.
Where learning does not matter a training of paper is broken, which does with a folder what `shapo.train` does.
"""

import argparse
import importlib
import random
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = map(str, (TESTS, TESTS / "rollout"))

import breaking
import hostile
import killing
import paper

from shapo.runs.files import Damaged, unpack
from shapo.runs.folder import Run
from shapo.runs.integrity import altered, check
from shapo.words import BadInput


def crash(rng: random.Random, place: Path) -> None:
    """Killed at a system call of a write, up to three times; then it goes on to its end."""
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(paper.calls())
        ended = breaking.in_child(lambda at=at: paper.train(place / "run", breaking.Kill(at)))
        assert ended in ("killed", "done"), f"killed at call {at}: {ended}"
    paper.train(place / "run")
    paper.assert_perfect(place / "run")


def full_disk(rng: random.Random, place: Path) -> None:
    """No space from some system call on: the file is named, and once there is space it goes on to its end."""
    at = rng.randrange(paper.calls())
    ended = breaking.in_child(lambda: paper.train(place / "run", breaking.Fill(at)))
    assert ended == "done" or ended.startswith(f"No space left on device: {place}"), (
        f"{at}: {ended}"
    )
    paper.train(place / "run")
    paper.assert_perfect(place / "run")


def race(rng: random.Random, place: Path) -> None:
    """Two begin in one folder at the same instant: one is refused, in one line."""
    ends = breaking.at_once(lambda: Run.create(place / "run", paper.EXPERIMENT))
    assert sorted(end.partition(":")[0] for end in ends) == ["done", "refused"], ends
    paper.train(place / "run")
    paper.assert_perfect(place / "run")


def corruption(rng: random.Random, place: Path) -> None:
    """A file is damaged: that is refused or told, or in the end all is as it would have been."""
    folder = place / "run"
    iterations = rng.randint(1, paper.ITERATIONS)
    paper.train(folder, iterations=iterations)
    victim = rng.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    was = victim.read_bytes()
    damage = breaking.damage(rng, victim)
    what = f"{victim.relative_to(folder)} {damage} after {iterations} iterations"
    if (
        iterations == paper.ITERATIONS
        and victim.parent == folder
        and victim.name != "manifest.json"
    ):
        assert altered(folder), f"{what}: not noticed in a finished run"
    if victim.suffix == ".safetensors" and victim.exists():
        assert check(folder) or _same_content(victim, was), f"{what}: not noticed"
    try:
        told = paper.train(folder)
    except BadInput as error:
        assert str(folder) in str(error) and "\n" not in str(error), f"{what}: {error}"
        return
    if not told:
        paper.assert_perfect(folder)


def _same_content(path: Path, was: bytes) -> bool:
    """Whether only the padding of a header differs, which carries no meaning."""
    other = path.with_name("other.safetensors")
    other.write_bytes(was)
    try:
        return repr(unpack(path)) == repr(unpack(other))
    except Damaged:
        return False
    finally:
        other.unlink()


def hostility(rng: random.Random, place: Path) -> None:
    """A trap in a folder that a command reads: nothing is executed, and nothing outside is touched."""
    for module in ("report", "comparison", "figures", "sweep"):  # once, and not in every child
        importlib.import_module(f"shapo.experiments.{module}")
    trap = rng.choice(sorted(hostile.TRAPS))
    stage = hostile.Stage.set_up(place, trap)
    words = rng.choice(stage.commands())
    ended = breaking.in_child(lambda: stage.run_quietly(words))
    assert ended == "done", f"{trap}, {' '.join(words)}: {ended}"
    stage.assert_untouched()


KINDS: dict[str, tuple[int, Callable[[random.Random, Path], None]]] = {
    "killed at a system call": (8, crash),
    "full disk from a system call on": (6, full_disk),
    "two at the same instant": (2, race),
    "a file corrupted": (12, corruption),
    "a hostile folder": (6, hostility),
    "a training killed": (2, killing.trial),
}
"""Each with its share of the trials."""


def trial(number: int, seed: int, kinds: list[str]) -> tuple[str, str]:
    """Which kind it was, and what went wrong, or nothing."""
    rng = random.Random(f"{seed}/{number}")
    kind = rng.choices(kinds, [KINDS[each][0] for each in kinds])[0]
    with tempfile.TemporaryDirectory(prefix="torture-") as place:
        try:
            KINDS[kind][1](rng, Path(place).resolve())
        except AssertionError as error:
            return kind, str(error) or traceback.format_exc()
        except Exception:
            return kind, traceback.format_exc()
    return kind, ""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="repeat the trial of this number")
    parser.add_argument(
        "--without-training", action="store_true", help="nothing that takes seconds"
    )
    options = parser.parse_args()
    kinds = [kind for kind in KINDS if kind != "a training killed" or not options.without_training]
    numbers = range(options.trials) if options.only is None else [options.only]
    done, failed = Counter(), Counter()
    for number in numbers:
        kind, problem = trial(number, options.seed, kinds)
        done[kind] += 1
        if problem:
            failed[kind] += 1
            print(f"trial {number}, {kind}: {problem}\n", flush=True)
    print(f"{'seed ' + str(options.seed):34}  trials  failures")
    for kind in kinds:
        print(f"{kind:34}  {done[kind]:6}  {failed[kind]:8}")
    print(f"{'together':34}  {done.total():6}  {failed.total():8}")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
