"""The operators of ONNX, with its names, defaults and errors.

``opset`` is the model's; ``nan`` overrides how NaN is handled: ``'propagate'`` or ``'ignore'``. Inputs
are arrays or tensors.

Examples
--------
>>> import numpy as np, wgmax
>>> wgmax.onnx.ReduceMax(np.array([[1, 4], [3, 2]], np.int32), [1], keepdims=0)
array([4, 3], dtype=int32)
>>> wgmax.onnx.MaxPool(np.array([[[1, 4, 3, 2]]], np.uint8), kernel_shape=[2], strides=[2])
array([[[4, 3]]], dtype=uint8)
"""

from typing import Any as _Any

from ._node import integers as _integers, results as _results, typed as _typed

__all__ = [
    "ArgMax",
    "ArgMin",
    "GlobalMaxPool",
    "MaxPool",
    "MaxUnpool",
    "ReduceMax",
    "ReduceMin",
    "ScatterElements",
    "ScatterND",
    "compare_model",
]


def _reduce(operator, given):
    # Axes became an input with opset 18.
    if given["opset"] < 18:
        return _results("onnx", operator, ["data"], given)
    if given["axes"] is not None:
        given["axes"] = _integers(given["axes"])
    return _results("onnx", operator, ["data", "axes"], given)


def ReduceMax(
    data, axes=None, *, keepdims=None, noop_with_empty_axes=None, opset=22, nan=None, device=None
) -> _Any:
    """ReduceMax, opsets 1 and later."""
    return _reduce("ReduceMax", locals())


def ReduceMin(
    data, axes=None, *, keepdims=None, noop_with_empty_axes=None, opset=22, nan=None, device=None
) -> _Any:
    """ReduceMin, opsets 1 and later."""
    return _reduce("ReduceMin", locals())


def ScatterElements(
    data, indices, updates, *, axis=None, reduction, opset=22, nan=None, device=None
) -> _Any:
    """ScatterElements with the reduction ``'max'`` or ``'min'``, opsets 18 and later."""
    indices = _typed(indices)
    return _results("onnx", "ScatterElements", ["data", "indices", "updates"], locals())


def ScatterND(data, indices, updates, *, reduction, opset=22, nan=None, device=None) -> _Any:
    """ScatterND with the reduction ``'max'`` or ``'min'``, opsets 18 and later."""
    indices = _typed(indices)
    return _results("onnx", "ScatterND", ["data", "indices", "updates"], locals())


def ArgMax(
    data, *, axis=None, keepdims=None, select_last_index=None, opset=22, nan=None, device=None
) -> _Any:
    """ArgMax, opsets 1 and later."""
    return _results("onnx", "ArgMax", ["data"], locals())


def ArgMin(
    data, *, axis=None, keepdims=None, select_last_index=None, opset=22, nan=None, device=None
) -> _Any:
    """ArgMin, opsets 1 and later."""
    return _results("onnx", "ArgMin", ["data"], locals())


def MaxPool(
    X,
    *,
    kernel_shape,
    strides=None,
    pads=None,
    dilations=None,
    auto_pad=None,
    ceil_mode=None,
    storage_order=None,
    outputs=1,
    opset=22,
    nan=None,
    device=None,
) -> _Any:
    """MaxPool, opsets 1 and later. With ``outputs=2`` a tuple of values and indices.

    With indices, the first of two zeros is the maximum, whatever their signs; without indices it is +0.
    """
    return _results("onnx", "MaxPool", ["X"], locals())


def GlobalMaxPool(X, *, opset=22, nan=None, device=None) -> _Any:
    """GlobalMaxPool, opsets 1 and later."""
    return _results("onnx", "GlobalMaxPool", ["X"], locals())


def MaxUnpool(X, I, output_shape=None, *, kernel_shape, strides=None, pads=None, opset=22, device=None) -> _Any:
    """MaxUnpool, opsets 9 and later."""
    if output_shape is not None:
        output_shape = _integers(output_shape)
    return _results("onnx", "MaxUnpool", ["X", "I", "output_shape"], locals())


def compare_model(model: _Any, inputs: _Any, *, devices: _Any = None) -> _Any:
    """Compares the operators of a model with onnxruntime, on the model's own activations, bit for bit.

    onnxruntime runs the model and keeps all inner tensors. Then every node with an operator of this module
    (of scatters those with the reductions max and min) runs on every device, with the inputs that it had in
    onnxruntime. Nodes in bodies of loops and branches are skipped. It needs the packages onnx and onnxruntime.

    Parameters
    ----------
    model : onnx.ModelProto or path
    inputs : dict or sequence of array_like
        The inputs of the model, by name or in their order.
    devices : sequence of Device or str, optional
        All that `wgmax.devices` lists by default.

    Returns
    -------
    list of NodeComparison
        For every node, device and result: `node`, `operator`, `output`, `device`, `comparison` (see
        `wgmax.compare`), `equal`, and `error` if the node did not run on the device.
    """
    try:
        from ._model import compare_model as compare
    except ImportError as error:
        raise ImportError(f"compare_model needs the packages onnx and onnxruntime: {error}") from error
    return compare(model, inputs, devices)
