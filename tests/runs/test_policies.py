"""A policy file is a policy, or it is refused in one line that names it."""

import numpy as np
import pytest
from hostile import POLICY, TRAPS, policy_with

import shapo
from shapo.rollout.actions import Choices
from shapo.runs import policies
from shapo.runs.files import Damaged
from shapo.runs.policies import TrainedPolicy


def assert_refused(path, reason):
    with pytest.raises(Damaged, match=reason) as error:
        shapo.load(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


CHOOSER = TrainedPolicy(POLICY.actor._replace(log_std=None), Choices(2, 0), "Task")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"action.start": None}, r"action\.start is missing"),
        ({"action.choices": None}, "log_std is missing"),
        ({"weight.1": None}, "its layers end with 8 numbers, its actions have 2"),
        ({"action.choices": np.array(3)}, "2 numbers, its actions have 3"),
        ({"action.start": np.zeros(1, np.int64)}, r"action\.start is int64\(1,\), not int64\(\)"),
    ],
)
def test_wrong_choices_are_named(tmp_path, changes, reason):
    path = tmp_path / policies.FILE
    CHOOSER.save(path)
    (tmp_path / "manifest.json").touch()
    policy_with(**changes)(tmp_path, tmp_path)
    assert_refused(path, reason)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"mean": None}, "mean is missing"),
        ({"bias.0": None}, r"bias\.0 is missing"),
        ({"weight.1": None}, "its layers end with 8 numbers"),
        ({"log_std": np.zeros((2, 2), np.float32)}, "2 numbers, its actions have 4"),
        ({"scale": np.zeros(4, np.float32)}, r"scale is float32\(4,\), not float32\(3,\)"),
        ({"mean": np.zeros(3)}, "mean is float64"),
        ({"mean": np.full(3, np.nan, np.float32)}, "mean is not finite"),
    ],
)
def test_wrong_arrays_are_named(tmp_path, changes, reason):
    path = tmp_path / policies.FILE
    POLICY.save(path)
    (tmp_path / "manifest.json").touch()
    policy_with(**changes)(tmp_path, tmp_path)
    assert_refused(path, reason)


@pytest.mark.parametrize("kind", ["bfloat16", "float8"])
def test_numbers_that_numpy_does_not_know_are_refused(tmp_path, kind):
    TRAPS[kind](tmp_path, tmp_path)
    assert_refused(tmp_path / policies.FILE, "damaged")


def test_a_policy_comes_back(tmp_path):
    POLICY.save(tmp_path / policies.FILE)
    obs = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_array_equal(shapo.load(tmp_path).act(obs), POLICY.act(obs))
