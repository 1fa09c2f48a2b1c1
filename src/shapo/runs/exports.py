"""A trained policy as an ONNX file: normalisation, network and action scale in one graph for any runtime."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shapo.rollout.acting import CLIP
from shapo.runs.policies import Policy
from shapo.words import BadInput

if TYPE_CHECKING:
    import onnx

INPUT, OUTPUT = "observation", "action"
OPSET, IR_VERSION = 17, 8
"""Of 2022: new enough for a network this simple, and old enough for every runtime."""


def to_onnx(policy: Policy) -> "onnx.ModelProto":
    """The policy's mean action: float32 `observation` [n, O], raw as the environment gives it, to `action` [n, A]."""
    try:
        from onnx import TensorProto, checker, helper, numpy_helper
    except ImportError:
        raise BadInput(
            "export needs the package onnx; install it with: pip install 'shapo[export]'"
        ) from None
    steps, arrays = _steps(policy)
    names = [INPUT, *(f"step{i}" for i in range(1, len(steps))), OUTPUT]
    nodes = [
        helper.make_node(kind, [before, *constants], [after])
        for (kind, *constants), before, after in zip(steps, names, names[1:], strict=False)
    ]
    widths = {INPUT: policy.observation_size, OUTPUT: len(policy.scale.offset)}
    ends = {
        name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", width])
        for name, width in widths.items()
    }
    constants = [
        numpy_helper.from_array(np.ascontiguousarray(array, np.float32), name)
        for name, array in arrays.items()
    ]
    graph = helper.make_graph(nodes, "policy", [ends[INPUT]], [ends[OUTPUT]], constants)
    model = helper.make_model(
        graph,
        producer_name="shapo",
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    helper.set_model_props(model, {"env": policy.env})
    checker.check_model(model, full_check=True)
    return model


def _steps(policy: Policy) -> tuple[list[tuple[str, ...]], Mapping[str, NDArray]]:
    """The operations in their order, each with the names of its constants, and the constants."""
    actor = policy.actor
    arrays = {
        "mean": actor.mean, "scale": actor.scale, "low": np.array(-CLIP), "high": np.array(CLIP),
        "factor": policy.scale.factor, "offset": policy.scale.offset,
    }  # fmt: skip
    steps: list[tuple[str, ...]] = [("Sub", "mean"), ("Div", "scale"), ("Clip", "low", "high")]
    for i, (weight, bias) in enumerate(zip(actor.weights, actor.biases, strict=True)):
        arrays |= {f"weight.{i}": weight, f"bias.{i}": bias}
        steps += [("Tanh",)] if i else []
        steps += [("Gemm", f"weight.{i}", f"bias.{i}")]
    return [*steps, ("Mul", "factor"), ("Add", "offset")], arrays
