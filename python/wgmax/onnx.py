"""The operators of ONNX, with its names, defaults and errors.

``opset`` is the model's; ``nan`` overrides what a NaN does, ``'propagate'`` or ``'ignore'``. Inputs
are arrays or tensors.

Examples
--------
>>> import numpy as np, wgmax
>>> wgmax.onnx.ReduceMax(np.array([[1, 4], [3, 2]], np.int32), [1], keepdims=0)
array([4, 3], dtype=int32)
>>> wgmax.onnx.MaxPool(np.array([[[1, 4, 3, 2]]], np.uint8), kernel_shape=[2], strides=[2])
array([[[4, 3]]], dtype=uint8)
"""

import numpy as _np

from ._node import results as _results

__all__ = [
    "ArgMax",
    "ArgMin",
    "GlobalMaxPool",
    "MaxPool",
    "MaxUnpool",
    "ReduceMax",
    "ReduceMin",
]


def _integers(values):
    """An input of int64. Floats stay floats, which operators refuse."""
    array = _np.asarray(values)
    return array.astype(_np.int64) if array.dtype.kind in "iu" or not array.size else array


def _reduce(operator, data, axes, keepdims, noop_with_empty_axes, opset, nan, device):
    attributes = {"keepdims": keepdims, "noop_with_empty_axes": noop_with_empty_axes}
    inputs = [data]
    # Axes became an input with opset 18.
    if opset >= 18:
        inputs.append(None if axes is None else _integers(axes))
    else:
        attributes["axes"] = axes
    return _results("onnx", operator, opset, inputs, attributes, nan=nan, device=device)


def ReduceMax(
    data, axes=None, *, keepdims=None, noop_with_empty_axes=None, opset=22, nan=None, device=None
):
    """ReduceMax, opsets 1 and later."""
    return _reduce("ReduceMax", data, axes, keepdims, noop_with_empty_axes, opset, nan, device)


def ReduceMin(
    data, axes=None, *, keepdims=None, noop_with_empty_axes=None, opset=22, nan=None, device=None
):
    """ReduceMin, opsets 1 and later."""
    return _reduce("ReduceMin", data, axes, keepdims, noop_with_empty_axes, opset, nan, device)


def ArgMax(
    data, *, axis=None, keepdims=None, select_last_index=None, opset=22, nan=None, device=None
):
    """ArgMax, opsets 1 and later."""
    attributes = {"axis": axis, "keepdims": keepdims, "select_last_index": select_last_index}
    return _results("onnx", "ArgMax", opset, [data], attributes, nan=nan, device=device)


def ArgMin(
    data, *, axis=None, keepdims=None, select_last_index=None, opset=22, nan=None, device=None
):
    """ArgMin, opsets 1 and later."""
    attributes = {"axis": axis, "keepdims": keepdims, "select_last_index": select_last_index}
    return _results("onnx", "ArgMin", opset, [data], attributes, nan=nan, device=device)


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
):
    """MaxPool, opsets 1 and later. With ``outputs=2`` a tuple of values and indices.

    Then the first of two zeros is the maximum of both, whatever their signs; without indices it is +0.
    """
    attributes = {
        "kernel_shape": kernel_shape,
        "strides": strides,
        "pads": pads,
        "dilations": dilations,
        "auto_pad": auto_pad,
        "ceil_mode": ceil_mode,
        "storage_order": storage_order,
    }
    return _results("onnx", "MaxPool", opset, [X], attributes, outputs, nan, device)


def GlobalMaxPool(X, *, opset=22, nan=None, device=None):
    """GlobalMaxPool, opsets 1 and later."""
    return _results("onnx", "GlobalMaxPool", opset, [X], {}, nan=nan, device=device)


def MaxUnpool(X, I, output_shape=None, *, kernel_shape, strides=None, pads=None, opset=22, device=None):
    """MaxUnpool, opsets 9 and later."""
    attributes = {"kernel_shape": kernel_shape, "strides": strides, "pads": pads}
    if output_shape is not None:
        output_shape = _integers(output_shape)
    return _results("onnx", "MaxUnpool", opset, [X, I, output_shape], attributes, device=device)
