"""Where the time of an iteration goes."""

import time


class Stopwatch:
    """Takes the time of each part of an iteration."""

    def __init__(self, elapsed: float):
        """`elapsed` seconds were spent before, by the run that is continued."""
        self._begin = time.perf_counter() - elapsed
        self._last = self._iteration = time.perf_counter()
        self._laps: dict[str, float] = {"rest": 0.0}

    @property
    def elapsed(self) -> float:
        """Seconds since the run began, pauses left out."""
        return self._last - self._begin

    def lap(self, name: str) -> None:
        """What was done since the last lap was `name`."""
        now = time.perf_counter()
        self._laps[name] = now - self._last
        self._last = now

    def row(self, steps: int) -> dict[str, float]:
        """The `time/` columns; `rest` is that of the iteration before, as this one's is not over yet."""
        spent = self._last - self._iteration
        self._iteration = self._last
        return {
            "time/seconds": self.elapsed,
            "time/steps_per_second": steps / spent,
            **{f"time/{name}": self._laps[name] for name in ("wait", "actor", "critics", "rest")},
        }
