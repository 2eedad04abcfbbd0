"""The operators of WebNN, with its names, defaults and errors.

``nan`` overrides how NaN is handled: ``'propagate'`` or ``'ignore'``. Inputs are arrays or tensors.

Examples
--------
>>> import numpy as np, wgmax
>>> wgmax.webnn.reduceMax(np.array([[1, 4], [3, 2]], np.int32), axes=[1])
array([4, 3], dtype=int32)
>>> wgmax.webnn.argMin(np.array([[1, 4], [3, 2]], np.int32), axis=1)
array([0, 1], dtype=int32)
"""

from typing import Any as _Any

from ._node import results as _results

__all__ = ["argMax", "argMin", "maxPool2d", "reduceMax", "reduceMin"]


def reduceMax(input, *, axes=None, keepDimensions=None, nan=None, device=None) -> _Any:
    """The maximum along axes, by default all."""
    return _results("webnn", "reduceMax", ["input"], locals())


def reduceMin(input, *, axes=None, keepDimensions=None, nan=None, device=None) -> _Any:
    """The minimum along axes, by default all."""
    return _results("webnn", "reduceMin", ["input"], locals())


def argMax(
    input, *, axis, keepDimensions=None, outputDataType=None, nan=None, device=None
) -> _Any:
    """The position of the maximum along an axis: that of the first of equal elements."""
    return _results("webnn", "argMax", ["input"], locals())


def argMin(
    input, *, axis, keepDimensions=None, outputDataType=None, nan=None, device=None
) -> _Any:
    """The position of the minimum along an axis: that of the first of equal elements."""
    return _results("webnn", "argMin", ["input"], locals())


def maxPool2d(
    input,
    *,
    windowDimensions=None,
    padding=None,
    strides=None,
    dilations=None,
    layout=None,
    outputShapeRounding=None,
    outputSizes=None,
    nan=None,
    device=None,
) -> _Any:
    """The maximum of windows. ``padding`` is top, bottom, left, right."""
    return _results("webnn", "maxPool2d", ["input"], locals())
