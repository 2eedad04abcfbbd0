"""The operators of oneDNN Graph, with its names, defaults and errors.

``nan`` overrides how NaN is handled: ``'propagate'`` or ``'ignore'``. Inputs are arrays or tensors.

Examples
--------
>>> import numpy as np, wgmax
>>> wgmax.onednn.ReduceMax(np.array([[1, 4], [3, 2]], np.float32), axes=[1])
array([4., 3.], dtype=float32)
"""

from typing import Any as _Any

from ._node import results as _results

__all__ = ["MaxPool", "MaxPoolBackward", "ReduceMax", "ReduceMin"]


def ReduceMax(src, axes_input=None, *, axes=None, keep_dims=None, nan=None, device=None) -> _Any:
    """ReduceMax. Axes are an attribute, or an input of int32."""
    return _results("onednn", "ReduceMax", ["src", "axes_input"], locals())


def ReduceMin(src, axes_input=None, *, axes=None, keep_dims=None, nan=None, device=None) -> _Any:
    """ReduceMin. Axes are an attribute, or an input of int32."""
    return _results("onednn", "ReduceMin", ["src", "axes_input"], locals())


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
) -> _Any:
    """MaxPool."""
    return _results("onednn", "MaxPool", ["src"], locals())


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
) -> _Any:
    """MaxPoolBackward."""
    return _results("onednn", "MaxPoolBackward", ["src", "diff_dst"], locals())
