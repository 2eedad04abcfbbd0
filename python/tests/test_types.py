"""What mypy says of calls. `scripts/python` checks this file; pytest runs it."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import wgmax

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:
    assert_type = lambda value, kind: value

Array = NDArray[Any]


def test_types() -> None:
    x = np.ones((2, 3, 4, 4), np.float32)
    tensor = wgmax.Tensor(x, "cpu")
    assert_type(wgmax.reduce_max(x, 1, keepdims=True), Array)
    assert_type(wgmax.reduce_max([[1.0]], return_indices=True), tuple[Array, Array])
    assert_type(wgmax.reduce_min(tensor), wgmax.Tensor)
    assert_type(wgmax.reduce_min(tensor, return_indices=True), tuple[wgmax.Tensor, wgmax.Tensor])
    flag = bool(x.any())
    assert_type(wgmax.max_pool(x, 2, return_indices=flag), Any)
    assert_type(wgmax.max_pool2d(x, 2), Array)
    assert_type(wgmax.adaptive_min_pool2d(tensor, (None, 2), return_indices=True),
                tuple[wgmax.Tensor, wgmax.Tensor])
    assert_type(wgmax.segment_max(x, [0, 1]), Array)
    assert_type(wgmax.segment_max(tensor, [0, 1], 2), wgmax.Tensor)
    assert_type(wgmax.arg_max(x), Array)
    assert_type(wgmax.reduce_max_backward(x, np.float32(1)), Array)
    assert_type(wgmax.max_unpool(x, np.zeros(x.shape, int), x.shape), Array)
    out = np.empty((2, 4, 4), np.float32)
    assert_type(wgmax.reduce_max(x, 1, out=out), Array)
    assert_type(tensor.to("cpu")[0].T, wgmax.Tensor)
    assert_type(tensor.device == wgmax.Device("cpu"), bool)
    try:
        wgmax.arg_min(x, axis=9)
    except wgmax.AxisError as error:
        assert_type(error.code, str)
    assert isinstance(wgmax.onnx.ReduceMax(x), np.ndarray)
