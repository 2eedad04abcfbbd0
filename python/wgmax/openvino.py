"""The operators of OpenVINO, with its names, defaults and errors.

``version`` is the operator's; ``nan`` overrides how NaN is handled: ``'propagate'`` or ``'ignore'``.
Inputs are arrays or tensors.

Examples
--------
>>> import numpy as np, wgmax
>>> wgmax.openvino.ReduceMax(np.array([[1, 4], [3, 2]], np.int32), [1])
array([4, 3], dtype=int32)
>>> wgmax.openvino.SegmentMax(np.array([1.0, 2, 3]), [0, 0, 1], fill_mode='ZERO')
array([2., 3.])
"""

from typing import Any as _Any

from ._node import integers as _integers, results as _results, typed as _typed

__all__ = [
    "AdaptiveMaxPool",
    "MaxPool",
    "ReduceMax",
    "ReduceMin",
    "ScatterElementsUpdate",
    "ScatterNDUpdate",
    "SegmentMax",
]


def _reduce(operator, given):
    given["axes"] = _integers(given["axes"])
    return _results("openvino", operator, ["data", "axes"], given)


def ReduceMax(data, axes, *, keep_dims=None, version=1, nan=None, device=None) -> _Any:
    """ReduceMax, version 1."""
    return _reduce("ReduceMax", locals())


def ReduceMin(data, axes, *, keep_dims=None, version=1, nan=None, device=None) -> _Any:
    """ReduceMin, version 1."""
    return _reduce("ReduceMin", locals())


def MaxPool(
    data,
    *,
    kernel,
    strides,
    pads_begin=None,
    pads_end=None,
    dilations=None,
    rounding_type=None,
    auto_pad=None,
    index_element_type=None,
    axis=None,
    outputs=1,
    version=14,
    nan=None,
    device=None,
) -> _Any:
    """MaxPool, versions 1, 8 and 14. With ``outputs=2`` a tuple of values and indices, from 8 on.

    With indices, the first of two zeros is the maximum, whatever their signs; without indices it is +0.
    """
    return _results("openvino", "MaxPool", ["data"], locals())


def AdaptiveMaxPool(
    data, output_shape, *, index_element_type=None, outputs=1, version=8, nan=None, device=None
) -> _Any:
    """AdaptiveMaxPool, version 8. With ``outputs=2`` a tuple of values and indices."""
    output_shape = _typed(output_shape)
    return _results("openvino", "AdaptiveMaxPool", ["data", "output_shape"], locals())


def SegmentMax(
    data, segment_ids, num_segments=None, *, fill_mode, version=16, nan=None, device=None
) -> _Any:
    """SegmentMax, version 16. Rows whose ids are at or above ``num_segments`` are dropped."""
    segment_ids = _typed(segment_ids)
    if num_segments is not None:
        num_segments = _typed(num_segments)
    return _results(
        "openvino", "SegmentMax", ["data", "segment_ids", "num_segments"], locals()
    )


def ScatterElementsUpdate(
    data,
    indices,
    updates,
    axis,
    *,
    reduction,
    use_init_val=None,
    version=12,
    nan=None,
    device=None,
) -> _Any:
    """ScatterElementsUpdate, version 12, with the reduction ``'max'`` or ``'min'``."""
    indices, axis = _typed(indices), _typed(axis)
    return _results(
        "openvino",
        "ScatterElementsUpdate",
        ["data", "indices", "updates", "axis"],
        locals(),
    )


def ScatterNDUpdate(
    data, indices, updates, *, reduction, version=15, nan=None, device=None
) -> _Any:
    """ScatterNDUpdate, version 15, with the reduction ``'max'`` or ``'min'``."""
    indices = _typed(indices)
    return _results("openvino", "ScatterNDUpdate", ["data", "indices", "updates"], locals())
