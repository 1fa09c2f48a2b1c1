"""A trained policy as an ONNX file: normalisation, network and action scale in one graph for any runtime."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shapo.rollout.acting import CLIP
from shapo.rollout.actions import ActionScale, Choices
from shapo.runs.policies import TrainedPolicy
from shapo.words import BadInput

if TYPE_CHECKING:
    import onnx

INPUT, OUTPUT = "observation", "action"
OPSET, IR_VERSION = 17, 8
"""Of 2022: new enough for a network this simple, and old enough for every runtime."""


def to_onnx(policy: TrainedPolicy) -> "onnx.ModelProto":
    """The policy as `act` has it: float32 `observation` [n, O], raw as the environment gives it, to `action`.

    That is the mean action, float32 [n, A], or the likeliest choice, int64 [n].
    """
    try:
        from onnx import TensorProto, checker, helper, numpy_helper
    except ImportError:
        raise BadInput(
            "export needs the package onnx; install it with: pip install 'shapo[export]'"
        ) from None
    steps, arrays = _steps(policy)
    names = [INPUT, *(f"step{i}" for i in range(1, len(steps))), OUTPUT]
    nodes = [
        helper.make_node(step.kind, [before, *step.constants], [after], **step.settings)
        for step, before, after in zip(steps, names, names[1:], strict=False)
    ]
    end = helper.make_tensor_value_info
    observation = end(INPUT, TensorProto.FLOAT, ["n", policy.observation_size])
    match policy.actions:
        case ActionScale() as scale:
            action = end(OUTPUT, TensorProto.FLOAT, ["n", scale.size])
        case Choices():
            action = end(OUTPUT, TensorProto.INT64, ["n"])
    constants = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "policy", [observation], [action], constants)
    model = helper.make_model(
        graph,
        producer_name="shapo",
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    helper.set_model_props(model, {"env": policy.env})
    checker.check_model(model, full_check=True)
    return model


class _Step(NamedTuple):
    """One operation of the graph."""

    kind: str
    constants: tuple[str, ...] = ()
    settings: Mapping[str, Any] = {}


def _steps(policy: TrainedPolicy) -> tuple[list[_Step], Mapping[str, NDArray]]:
    """The operations in their order, each with the names of its constants, and the constants."""
    actor = policy.actor
    numbers = {
        "mean": actor.mean, "scale": actor.scale, "low": np.array(-CLIP), "high": np.array(CLIP),
    }  # fmt: skip
    steps = [_Step("Sub", ("mean",)), _Step("Div", ("scale",)), _Step("Clip", ("low", "high"))]
    for i, (weight, bias) in enumerate(zip(actor.weights, actor.biases, strict=True)):
        numbers |= {f"weight.{i}": weight, f"bias.{i}": bias}
        steps += [_Step("Tanh")] if i else []
        steps += [_Step("Gemm", (f"weight.{i}", f"bias.{i}"))]
    start = {}
    match policy.actions:
        case ActionScale(offset, factor):
            numbers |= {"factor": factor, "offset": offset}
            steps += [_Step("Mul", ("factor",)), _Step("Add", ("offset",))]
        case Choices(_, first):
            start = {"start": np.array(first, np.int64)}
            steps += [
                _Step("ArgMax", settings={"axis": 1, "keepdims": 0}),
                _Step("Add", ("start",)),
            ]
    single = {name: np.ascontiguousarray(array, np.float32) for name, array in numbers.items()}
    return steps, single | start
