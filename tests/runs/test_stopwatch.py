"""Where the time goes, on a clock that is set by hand."""

import pytest

from shapo.runs import stopwatch


def test_an_iteration_is_timed_from_row_to_row(monkeypatch):
    """And the run goes on where it was stopped; what follows a row is told by the next one."""
    now = [1000.0]
    monkeypatch.setattr(stopwatch.time, "perf_counter", lambda: now[0])
    clock = stopwatch.Stopwatch(elapsed=500.0)
    spans = [
        {"wait": 2.0, "actor": 3.0, "critics": 5.0, "rest": 7.0},
        {"wait": 11.0, "actor": 13.0, "critics": 17.0, "rest": 19.0},
    ]
    total, before = 500.0, 0.0
    for own in spans:
        for name in ("wait", "actor", "critics"):
            now[0] += own[name]
            total += own[name]
            clock.lap(name)
        spent = before + own["wait"] + own["actor"] + own["critics"]
        now[0] += 1.0  # belongs to the rest
        assert clock.row(steps=1000) == pytest.approx(
            {"time/seconds": total, "time/steps_per_second": 1000 / spent}
            | {f"time/{name}": seconds for name, seconds in (own | {"rest": before}).items()}
        )
        assert clock.elapsed == total
        now[0] += own["rest"] - 1.0
        total, before = total + own["rest"], own["rest"]
        clock.lap("rest")
