import pytest

from shapo.experiments.comparison import _interval, _rounded
from shapo.experiments.statistics import Interval


@pytest.mark.parametrize(
    "value, spread, text",
    [
        (7.325, 2.31, "7.3"), (0.0110874, 0.000199, "0.01109"), (110874.8, 1989.0, "110,875"),
        (-0.2, 0.0951, "-0.200"), (12.5, 0.0, "12.5"), (float("nan"), 1.0, "nan"),
    ],
)  # fmt: skip
def test_decimals_end_where_the_spread_has_two_digits(value, spread, text):
    assert _rounded(value, spread) == text


def test_an_interval_is_rounded_by_its_half_width():
    assert _interval(Interval(5.187, -2.175, 12.548)) == "+5.2 [-2.2, +12.5]"
    assert _interval(Interval(3.14159, float("nan"), float("nan"))) == "+3.142"
