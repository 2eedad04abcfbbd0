from typing import Any, Literal, Sequence, final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = [
    "__version__", "ArgumentError", "OutOfMemoryError", "DeviceError", "Device", "DeviceInfo", "Tensor",
    "Comparison", "Verification", "devices", "compare", "verify", "node", "_forked", "reduce_max",
    "reduce_min", "arg_max", "arg_min", "max_pool", "min_pool", "segment_max", "segment_min",
    "reduce_max_backward", "reduce_min_backward", "max_pool_backward", "min_pool_backward",
    "segment_max_backward", "segment_min_backward", "_pool_shape", "max_unpool", "adaptive_max_pool",
    "adaptive_min_pool", "adaptive_max_pool_backward", "adaptive_min_pool_backward",
]
__version__: str

_Axis = int | Sequence[int] | None
_Sizes = int | Sequence[int]
_OutputSizes = int | None | Sequence[int | None]
_Padding = _Sizes | Sequence[tuple[int, int]] | Literal["valid", "same_upper", "same_lower"]
_Nan = Literal["propagate", "ignore"]
_Empty = Literal["negative_infinity", "lowest"]
_EmptySegment = Literal["zero", "lowest", "negative_infinity"]
_Segments = Literal["sorted", "unsorted", "offsets"]
_Mode = Literal["raise", "drop"]
_Layout = Literal["NCX", "NXC"]
_Order = Literal["row_major", "column_major"]
_Given = ArrayLike | Tensor
# An array or a scalar; a `Tensor` if an input is one; tuples of these with `return_indices`.
_Found = Any

def _forked() -> None: ...
def _pool_shape(
    shape: Sequence[int], dtype: Any, kernel_size: _Sizes, stride: _Sizes | None = None, padding: Any = None,
    **keywords: Any,
) -> list[int]: ...

class ArgumentError(ValueError):
    code: str

class OutOfMemoryError(MemoryError):
    code: str

class DeviceError(RuntimeError):
    code: str

@final
class Device:
    def __new__(cls, name: str = "auto") -> Device: ...
    @property
    def name(self) -> str: ...
    @property
    def backend(self) -> str: ...
    @property
    def driver(self) -> str: ...
    @property
    def kind(self) -> str: ...

@final
class DeviceInfo:
    @property
    def name(self) -> str: ...
    @property
    def backend(self) -> str: ...
    @property
    def driver(self) -> str: ...
    @property
    def kind(self) -> str: ...

@final
class Tensor:
    def __new__(cls, array: Any, device: Device | str | None = None, *, copy: bool = True) -> Tensor: ...
    def numpy(self) -> NDArray[Any]: ...
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def device(self) -> Device: ...
    @property
    def T(self) -> Tensor: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Tensor: ...
    def transpose(self, *axes: Any) -> Tensor: ...
    def reshape(self, *sizes: Any) -> Tensor: ...

@final
class Comparison:
    @property
    def equal(self) -> bool: ...
    @property
    def total(self) -> int: ...
    @property
    def differing(self) -> int: ...
    @property
    def max_ulp(self) -> int | None: ...
    @property
    def first(self) -> list[dict[str, Any]]: ...
    def __bool__(self) -> bool: ...

@final
class Verification:
    @property
    def cases(self) -> int: ...
    @property
    def differing(self) -> list[str]: ...
    @property
    def failed(self) -> list[str]: ...
    def __bool__(self) -> bool: ...

def devices() -> list[DeviceInfo]: ...
def compare(a: _Given, b: _Given, *, values: bool = False) -> Comparison: ...
def verify(
    device: Device | str | None = None, *, cases: int = 390, seed: int = 0
) -> Verification: ...
def node(
    dialect: str,
    operator: str,
    version: int | None,
    attributes: dict[str, Any],
    inputs: Sequence[_Given | None],
    outputs: int = 1,
    nan: _Nan | None = None,
    device: Device | str | None = None,
) -> list[Any]: ...
def reduce_max(
    x: _Given,
    axis: _Axis = None,
    *,
    keepdims: bool = False,
    return_indices: bool = False,
    select_last: bool = False,
    index_type: DTypeLike = "int64",
    nan: _Nan = "propagate",
    empty: _Empty = "negative_infinity",
    device: Device | str | None = None,
) -> _Found: ...
reduce_min = reduce_max
def arg_max(
    x: _Given,
    axis: _Axis = None,
    *,
    keepdims: bool = False,
    select_last: bool = False,
    index_type: DTypeLike = "int64",
    nan: _Nan = "propagate",
    device: Device | str | None = None,
) -> _Found: ...
arg_min = arg_max
def max_pool(
    x: _Given,
    kernel_size: _Sizes,
    stride: _Sizes | None = None,
    padding: _Padding = 0,
    *,
    dilation: _Sizes = 1,
    ceil_mode: bool | Literal["all"] = False,
    return_indices: bool = False,
    layout: _Layout = "NCX",
    nan: _Nan = "propagate",
    empty: _Empty = "negative_infinity",
    index_type: DTypeLike = "int64",
    index_axis: int | None = None,
    index_order: _Order = "row_major",
    device: Device | str | None = None,
) -> _Found: ...
min_pool = max_pool
def adaptive_max_pool(
    x: _Given,
    output_size: _OutputSizes,
    *,
    return_indices: bool = False,
    layout: _Layout = "NCX",
    nan: _Nan = "propagate",
    index_type: DTypeLike = "int64",
    index_axis: int | None = None,
    index_order: _Order = "row_major",
    device: Device | str | None = None,
) -> _Found: ...
adaptive_min_pool = adaptive_max_pool
def segment_max(
    data: _Given,
    segment_ids: _Given,
    num_segments: int | None = None,
    *,
    segments: _Segments = "sorted",
    mode: _Mode = "raise",
    empty: _EmptySegment = "zero",
    return_indices: bool = False,
    index_type: DTypeLike = "int64",
    nan: _Nan = "propagate",
    device: Device | str | None = None,
) -> _Found: ...
segment_min = segment_max
def reduce_max_backward(
    x: _Given,
    gradient: _Given,
    axis: _Axis = None,
    *,
    shape: _Sizes | None = None,
    keepdims: bool = False,
    select_last: bool = False,
    index_type: DTypeLike = "int64",
    nan: _Nan = "propagate",
    device: Device | str | None = None,
) -> _Found: ...
reduce_min_backward = reduce_max_backward
def max_pool_backward(
    x: _Given,
    gradient: _Given,
    kernel_size: _Sizes,
    stride: _Sizes | None = None,
    padding: _Padding = 0,
    *,
    shape: _Sizes | None = None,
    dilation: _Sizes = 1,
    ceil_mode: bool | Literal["all"] = False,
    layout: _Layout = "NCX",
    nan: _Nan = "propagate",
    empty: _Empty = "negative_infinity",
    index_type: DTypeLike = "int64",
    index_axis: int | None = None,
    index_order: _Order = "row_major",
    device: Device | str | None = None,
) -> _Found: ...
min_pool_backward = max_pool_backward
def adaptive_max_pool_backward(
    x: _Given,
    gradient: _Given,
    output_size: _OutputSizes,
    *,
    shape: _Sizes | None = None,
    layout: _Layout = "NCX",
    nan: _Nan = "propagate",
    index_type: DTypeLike = "int64",
    index_axis: int | None = None,
    index_order: _Order = "row_major",
    device: Device | str | None = None,
) -> _Found: ...
adaptive_min_pool_backward = adaptive_max_pool_backward
def segment_max_backward(
    data: _Given,
    segment_ids: _Given | None,
    gradient: _Given,
    *,
    shape: _Sizes | None = None,
    segments: _Segments = "sorted",
    mode: _Mode = "raise",
    index_type: DTypeLike = "int64",
    nan: _Nan = "propagate",
    device: Device | str | None = None,
) -> _Found: ...
segment_min_backward = segment_max_backward
def max_unpool(
    values: _Given,
    indices: _Given,
    shape: _Sizes,
    *,
    indices_within: _Sizes | None = None,
    device: Device | str | None = None,
) -> _Found: ...
