"""The max family of tensor operators, on GPUs and on the CPU, bit for bit the same.

`reduce_max`, `max_pool` and `segment_max`, their minima, positions and gradients take and return numpy
arrays, ml_dtypes' bfloat16 included; they also take objects with ``__dlpack__``. A `Tensor` stays in the
memory of its `Device`.

- `wgmax.onnx`, `wgmax.openvino`, `wgmax.onednn` and `wgmax.webnn` have the operators as these specifications
  define them.
- `wgmax.backend` runs ONNX models of one operator, by ONNX's backend interface.
- `wgmax.array_api` has four functions with the signatures of the Python array API standard.
- `wgmax.torch` has PyTorch's functions of maxima and minima, on its tensors, with gradients.
- `wgmax.dask` computes on Dask arrays, which may be larger than one machine.

Errors are `ArgumentError`, a `ValueError`; `AxisError`, one of these and numpy's; `OutOfMemoryError`, a
`MemoryError`; and `DeviceError`, a `RuntimeError`. Their ``code`` is the name of the cause.
"""

import os as _os

from . import _wgmax
from ._wgmax import (
    ArgumentError,
    AxisError,
    Comparison,
    Device,
    DeviceError,
    DeviceInfo,
    OutOfMemoryError,
    Tensor,
    Verification,
    __version__,
    adaptive_max_pool,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    adaptive_max_pool_backward,
    adaptive_min_pool,
    adaptive_min_pool1d,
    adaptive_min_pool2d,
    adaptive_min_pool3d,
    adaptive_min_pool_backward,
    arg_max,
    arg_min,
    compare,
    devices,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_pool_backward,
    max_unpool,
    min_pool,
    min_pool1d,
    min_pool2d,
    min_pool3d,
    min_pool_backward,
    reduce_max,
    reduce_max_backward,
    reduce_min,
    reduce_min_backward,
    scatter_max,
    scatter_max_backward,
    scatter_min,
    scatter_min_backward,
    segment_max,
    segment_max_backward,
    segment_min,
    segment_min_backward,
    verify,
)
from . import onednn, onnx, openvino, webnn

if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_wgmax._forked)

__all__ = [
    "ArgumentError",
    "AxisError",
    "Comparison",
    "Device",
    "DeviceError",
    "DeviceInfo",
    "OutOfMemoryError",
    "Tensor",
    "Verification",
    "adaptive_max_pool",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "adaptive_max_pool_backward",
    "adaptive_min_pool",
    "adaptive_min_pool1d",
    "adaptive_min_pool2d",
    "adaptive_min_pool3d",
    "adaptive_min_pool_backward",
    "arg_max",
    "arg_min",
    "compare",
    "devices",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_pool_backward",
    "max_unpool",
    "min_pool",
    "min_pool1d",
    "min_pool2d",
    "min_pool3d",
    "min_pool_backward",
    "onednn",
    "onnx",
    "openvino",
    "reduce_max",
    "reduce_max_backward",
    "reduce_min",
    "reduce_min_backward",
    "scatter_max",
    "scatter_max_backward",
    "scatter_min",
    "scatter_min_backward",
    "segment_max",
    "segment_max_backward",
    "segment_min",
    "segment_min_backward",
    "verify",
    "webnn",
]
