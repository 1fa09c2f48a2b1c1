"""A policy in another runtime does what it does here."""

import sys

import hostile
import numpy as np
import onnxruntime
import pytest
from test_acting import make_actor

from shapo.cli import main as cli
from shapo.rollout.actions import ActionScale, Choices
from shapo.runs import policies
from shapo.runs.exports import to_onnx
from shapo.runs.policies import TrainedPolicy

STRETCHED = ActionScale(np.array([0.5, 0.0]), np.array([2.0, 0.4]))
DEEP = TrainedPolicy(make_actor((60, 64, 64, 2)), STRETCHED, "Task")
FLAT = TrainedPolicy(make_actor((7, 3)), ActionScale(np.zeros(3), np.ones(3)), "Task")
CHOOSER = TrainedPolicy(make_actor((7, 4))._replace(log_std=None), Choices(4, start=-1), "Task")


def session(model: bytes) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("policy", [DEEP, FLAT], ids=["deep", "flat"])
@pytest.mark.parametrize("rows", [1, 2, 33])
@pytest.mark.parametrize("spread", [1.0, 100.0], ids=["within the clip", "beyond it"])
def test_acts_as_the_policy_does(policy, rows, spread):
    shape = (rows, policy.observation_size)
    obs = spread * np.random.default_rng(rows).normal(size=shape).astype(np.float32)
    (action,) = session(to_onnx(policy).SerializeToString()).run(None, {"observation": obs})
    np.testing.assert_allclose(action, policy.act(obs), rtol=2e-5, atol=2e-6)


def test_chooses_as_the_policy_does():
    obs = np.random.default_rng(0).normal(scale=4, size=(200, 7)).astype(np.float32)
    (action,) = session(to_onnx(CHOOSER).SerializeToString()).run(None, {"observation": obs})
    assert action.dtype == np.int64 and set(action) == {-1, 0, 1, 2}
    np.testing.assert_array_equal(action, CHOOSER.act(obs))


def test_the_command_writes_it_beside_the_policy(tmp_path, capsys):
    DEEP.save(tmp_path / policies.FILE)
    cli.main(["export", str(tmp_path)])
    assert capsys.readouterr().out == f"policy={tmp_path / 'policy.onnx'}\n"
    cli.main(["export", str(tmp_path / policies.FILE), "--out", str(tmp_path / "other.onnx")])
    first, second = ((tmp_path / name).read_bytes() for name in ("policy.onnx", "other.onnx"))
    assert first == second
    told = session(first)
    assert told.get_modelmeta().custom_metadata_map == {"env": "Task"}
    assert [(end.name, end.shape) for end in (*told.get_inputs(), *told.get_outputs())] == [
        ("observation", ["n", 60]), ("action", ["n", 2]),
    ]  # fmt: skip


def test_without_onnx_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ValueError, match=r"needs the package onnx.*shapo\[export\]"):
        to_onnx(DEEP)


def test_another_runs_policy_is_not_exported(tmp_path, capsys):
    own, other = (hostile.write_run(tmp_path / name, iterations=4) for name in ("own", "other"))
    cli.dispatch(["export", str(own)])
    DEEP.save(own / policies.FILE)
    with pytest.raises(ValueError, match="is not what was written"):
        cli.dispatch(["export", str(own)])
    cli.dispatch(["export", str(other)])
