"""ONNX's backend interface, for models of one operator that wgmax has.

The devices of ONNX are ``CPU`` and ``CUDA``, the best GPU, or ``CUDA:1`` and so on, the others in the
order of `wgmax.devices`; any name that `wgmax.Device` takes is valid too.

Examples
--------
>>> import numpy as np, onnx.helper as h, wgmax.backend
>>> info = lambda name, shape: h.make_tensor_value_info(name, 1, shape)
>>> node = h.make_node('MaxPool', ['x'], ['y'], kernel_shape=[2])
>>> graph = h.make_graph([node], 'g', [info('x', [1, 1, 3])], [info('y', [1, 1, 2])])
>>> model = h.make_model(graph, opset_imports=[h.make_opsetid('', 22)])
>>> wgmax.backend.prepare(model).run([np.array([[[1, 3, 2]]], np.float32)])
Outputs(y=array([[[3., 3.]]], dtype=float32))
"""

import unittest

import numpy as np
from onnx import helper, numpy_helper
from onnx.backend.base import Backend, BackendRep, namedtupledict

from . import _wgmax
from . import onnx as _operators

OPERATORS = frozenset(_operators.__all__) - {"compare_model"}
"""The operators that wgmax has: of ScatterElements and ScatterND the reductions max and min."""


class UnsupportedModel(_wgmax.ArgumentError, unittest.SkipTest):
    """A model that is not one operator of wgmax. Test runners, ONNX's too, count it as skipped."""


def _lacks(node):
    """What wgmax lacks to run a node; None if it runs it."""
    if node.domain not in ("", "ai.onnx") or node.op_type not in OPERATORS:
        return f"wgmax has no operator {node.domain}.{node.op_type}"
    if node.op_type.startswith("Scatter"):
        given = [each.s for each in node.attribute if each.name == "reduction"]
        reduction = given[0].decode() if given else "none"
        if reduction not in ("max", "min"):
            return f"wgmax has no {node.op_type} with the reduction {reduction}"
    return None


def _outputs(node):
    """The names of a node's outputs, without unused ones at the end."""
    names = list(node.output)
    while names and not names[-1]:
        names.pop()
    return names


def _reason(model):
    """Why a model is not supported; None if it is."""
    nodes = model.graph.node
    if len(nodes) != 1:
        return f"the model has {len(nodes)} nodes; wgmax runs models of one"
    return _lacks(nodes[0])


class _Prepared(BackendRep):
    """A model of one node, and the device that it runs on."""

    def __init__(self, model, device):
        graph = model.graph
        opsets = [opset.version for opset in model.opset_import if opset.domain in ("", "ai.onnx")]
        self._node = graph.node[0]
        self._opset = opsets[0] if opsets else 1
        self._attributes = {
            attribute.name: helper.get_attribute_value(attribute)
            for attribute in self._node.attribute
        }
        self._constants = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
        self._inputs = [each.name for each in graph.input if each.name not in self._constants]
        self._outputs = [each.name for each in graph.output]
        self._device = device

    def run(self, inputs, **kwargs):
        """The results for inputs in the order of the graph, or by name."""
        if isinstance(inputs, dict):
            given = dict(inputs)
        elif isinstance(inputs, (list, tuple)):
            if len(inputs) > len(self._inputs):
                raise _wgmax.ArgumentError(f"the graph has {len(self._inputs)} inputs, not {len(inputs)}")
            given = dict(zip(self._inputs, inputs))
        else:
            given = {self._inputs[0]: inputs}
        values = {**self._constants, **given}
        made = _outputs(self._node)
        needed = [name for name in self._node.input if name]
        needed += [name for name in self._outputs if name not in made]
        missing = [name for name in needed if name not in values]
        if missing:
            raise _wgmax.ArgumentError(f"there is no input {missing[0]!r}")
        results = _wgmax.node(
            "onnx",
            self._node.op_type,
            self._opset,
            self._attributes,
            [values[name] if name else None for name in self._node.input],
            len(made),
            device=self._device,
        )
        found = {**values, **{name: np.asarray(each) for name, each in zip(made, results)}}
        return namedtupledict("Outputs", self._outputs)(*[found[name] for name in self._outputs])


class WgmaxBackend(Backend):
    """Runs models of one operator on a device of wgmax."""

    device = None
    """The name of a device that replaces all of ONNX's devices; by default none is replaced."""

    @classmethod
    def _named(cls, device):
        if cls.device is not None:
            return cls.device
        kind, _, number = device.partition(":")
        if kind == "CPU":
            return "cpu"
        if kind == "CUDA":
            return number if number not in ("", "0") else "gpu"
        return device

    @classmethod
    def is_compatible(cls, model, device="CPU", **kwargs):
        """Whether the model is one operator that wgmax has."""
        return _reason(model) is None

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        """The model, prepared for a device."""
        super().prepare(model, device, **kwargs)
        reason = _reason(model)
        if reason is not None:
            raise UnsupportedModel(reason)
        return _Prepared(model, cls._named(device))

    @classmethod
    def supports_device(cls, device):
        """Whether there is such a device."""
        try:
            _wgmax.Device(cls._named(device))
        except _wgmax.DeviceError:
            return False
        return True


is_compatible = WgmaxBackend.is_compatible
prepare = WgmaxBackend.prepare
run_model = WgmaxBackend.run_model
supports_device = WgmaxBackend.supports_device
