"""The implementation of `wgmax.onnx.compare_model`. It needs the packages onnx and onnxruntime."""

import os
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped]
from onnx import helper

from . import _wgmax
from .backend import _lacks, _outputs


class NodeComparison(NamedTuple):
    """How one result of a node on a device differs from onnxruntime's."""

    node: str
    operator: str
    output: str
    device: str
    comparison: Optional[_wgmax.Comparison]
    error: Optional[str]

    @property
    def equal(self) -> bool:
        """Whether the result has the same bits."""
        return self.comparison is not None and self.comparison.equal


def compare_model(
    model: Any, inputs: Union[Mapping[str, Any], Sequence[Any]], devices: Optional[Sequence[Any]]
) -> list[NodeComparison]:
    if isinstance(model, (str, os.PathLike)):
        model = onnx.load(model)
    kept = onnx.ModelProto()
    kept.CopyFrom(model)
    nodes = [node for node in kept.graph.node if _lacks(node) is None]
    constants = {each.name: onnx.numpy_helper.to_array(each) for each in kept.graph.initializer}
    names = [each.name for each in kept.graph.input if each.name not in constants]
    given = dict(inputs) if isinstance(inputs, Mapping) else dict(zip(names, inputs, strict=True))
    # Inner tensors become results of the model, and nothing is fused.
    wanted = {name for node in nodes for name in [*node.input, *node.output] if name}
    wanted -= {*constants, *given}
    known = {each.name for each in kept.graph.output}
    kept.graph.output.extend(onnx.ValueInfoProto(name=name) for name in sorted(wanted - known))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        kept.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    found = session.run(sorted(wanted), given) if wanted else []
    values = {**constants, **given, **dict(zip(sorted(wanted), found))}
    opsets = [each.version for each in kept.opset_import if each.domain in ("", "ai.onnx")]
    if devices is None:
        devices = [each.description for each in _wgmax.devices()]
    return [
        each
        for node in nodes
        for device in devices
        for each in _compared(node, opsets[0], values, device)
    ]


def _compared(node: Any, opset: int, values: dict[str, Any], device: Any) -> list[NodeComparison]:
    """The results of a node on a device."""
    attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    inputs = [values[name] if name else None for name in node.input]
    said = device.name if isinstance(device, _wgmax.Device) else device
    names = _outputs(node)
    about = [(node.name, node.op_type, name, said) for name in names]
    try:
        results = _wgmax.node(
            "onnx", node.op_type, opset, attributes, inputs, len(names), device=device
        )
        return [
            NodeComparison(*each, _wgmax.compare(np.asarray(result), values[each[2]]), None)
            for each, result in zip(about, results)
            if each[2]
        ]
    except (_wgmax.ArgumentError, _wgmax.DeviceError, _wgmax.OutOfMemoryError) as error:
        return [NodeComparison(*each, None, str(error)) for each in about if each[2]]
