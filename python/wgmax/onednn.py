"""The operators of oneDNN Graph, with its names, defaults and errors.

``nan`` overrides what a NaN does, ``'propagate'`` or ``'ignore'``. Inputs are arrays or tensors.

Examples
--------
>>> import numpy as np, wgmax
>>> wgmax.onednn.ReduceMax(np.array([[1, 4], [3, 2]], np.float32), axes=[1])
array([4., 3.], dtype=float32)
"""

from ._node import results as _results

__all__ = ["MaxPool", "MaxPoolBackward", "ReduceMax", "ReduceMin"]


def _reduce(operator, src, axes_input, axes, keep_dims, nan, device):
    attributes = {"axes": axes, "keep_dims": keep_dims}
    return _results(
        "onednn", operator, None, [src, axes_input], attributes, nan=nan, device=device
    )


def ReduceMax(src, axes_input=None, *, axes=None, keep_dims=None, nan=None, device=None):
    """ReduceMax. Axes are an attribute, or an input of int32."""
    return _reduce("ReduceMax", src, axes_input, axes, keep_dims, nan, device)


def ReduceMin(src, axes_input=None, *, axes=None, keep_dims=None, nan=None, device=None):
    """ReduceMin. Axes are an attribute, or an input of int32."""
    return _reduce("ReduceMin", src, axes_input, axes, keep_dims, nan, device)


def MaxPool(
    src,
    *,
    kernel,
    strides,
    pads_begin,
    pads_end,
    dilations=None,
    rounding_type=None,
    auto_pad=None,
    data_format=None,
    nan=None,
    device=None,
):
    """MaxPool."""
    attributes = {
        "kernel": kernel,
        "strides": strides,
        "pads_begin": pads_begin,
        "pads_end": pads_end,
        "dilations": dilations,
        "rounding_type": rounding_type,
        "auto_pad": auto_pad,
        "data_format": data_format,
    }
    return _results("onednn", "MaxPool", None, [src], attributes, nan=nan, device=device)


def MaxPoolBackward(
    src,
    diff_dst,
    *,
    kernel,
    strides,
    pads_begin,
    pads_end,
    dilations=None,
    auto_pad=None,
    data_format=None,
    nan=None,
    device=None,
):
    """MaxPoolBackward."""
    attributes = {
        "kernel": kernel,
        "strides": strides,
        "pads_begin": pads_begin,
        "pads_end": pads_end,
        "dilations": dilations,
        "auto_pad": auto_pad,
        "data_format": data_format,
    }
    inputs = [src, diff_dst]
    return _results("onednn", "MaxPoolBackward", None, inputs, attributes, nan=nan, device=device)
