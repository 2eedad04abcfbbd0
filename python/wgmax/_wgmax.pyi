from typing import Any, ClassVar, Iterator, Literal, Never, Sequence, final, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = [
    "__version__", "ArgumentError", "OutOfMemoryError", "DeviceError", "Device", "DeviceInfo", "Tensor",
    "Comparison", "Verification", "devices", "compare", "verify", "node", "_forked", "_command", "reduce_max",
    "reduce_min", "arg_max", "arg_min", "max_pool", "min_pool", "segment_max", "segment_min",
    "reduce_max_backward", "reduce_min_backward", "max_pool_backward", "min_pool_backward",
    "segment_max_backward", "segment_min_backward", "scatter_max", "scatter_min", "scatter_max_backward",
    "scatter_min_backward", "_pool_shape", "max_unpool", "adaptive_max_pool",
    "adaptive_min_pool", "adaptive_max_pool_backward", "adaptive_min_pool_backward", "AxisError",
    "max_pool1d", "max_pool2d", "max_pool3d", "min_pool1d", "min_pool2d", "min_pool3d",
    "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d", "adaptive_min_pool1d",
    "adaptive_min_pool2d", "adaptive_min_pool3d",
]
__version__: str

_Axis = int | Sequence[int] | None
_Sizes = int | Sequence[int]
_OutputSizes = int | None | Sequence[int | None]
_Padding = _Sizes | Sequence[tuple[int, int]] | Literal["valid", "same_upper", "same_lower"]
_Nan = Literal["propagate", "ignore"]
_Scalar = bool | int | float | np.generic
_Empty = Literal["negative_infinity", "lowest"]
_EmptySegment = Literal["zero", "lowest", "negative_infinity"]
_Segments = Literal["sorted", "unsorted", "offsets"]
_Mode = Literal["raise", "drop"]
_Layout = Literal["NCX", "NXC"]
_Order = Literal["row_major", "column_major"]
_Given = ArrayLike | Tensor
_Device = Device | str | None
# An array, or numpy's scalar of a result without axes.
_Array = NDArray[Any]

def _forked() -> None: ...
def _command(arguments: Sequence[str]) -> int: ...
def _pool_shape(
    shape: Sequence[int], dtype: Any, kernel_size: _Sizes, stride: _Sizes | None = None, padding: Any = None,
    **keywords: Any,
) -> list[int]: ...

class ArgumentError(ValueError):
    code: str

class AxisError(ArgumentError, np.exceptions.AxisError): ...

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
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Device], tuple[str]]: ...

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
    @property
    def description(self) -> str: ...

@final
class Tensor:
    def __new__(cls, array: Any, device: _Device = None, *, copy: bool = True) -> Tensor: ...
    def numpy(self) -> NDArray[Any]: ...
    def tolist(self) -> Any: ...
    def item(self) -> Any: ...
    def to(self, device: Device | str) -> Tensor: ...
    # These two raise a TypeError.
    def __eq__(self, other: object, /) -> Never: ...
    def __ne__(self, other: object, /) -> Never: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __bool__(self) -> bool: ...
    def __reduce__(self) -> tuple[type[Tensor], tuple[NDArray[Any]]]: ...
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
    def nbytes(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def device(self) -> Device: ...
    @property
    def T(self) -> Tensor: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Tensor]: ...
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
    device: _Device = None, *, cases: int = 390, seed: int = 0
) -> Verification: ...
def node(
    dialect: str,
    operator: str,
    version: int | None,
    attributes: dict[str, Any],
    inputs: Sequence[_Given | None],
    outputs: int = 1,
    nan: _Nan | None = None,
    device: _Device = None,
) -> list[Any]: ...
@overload
def reduce_max(
    x: Tensor, axis: _Axis = None, *, keepdims: bool = False, return_indices: Literal[False] = False,
    select_last: bool = False, index_type: DTypeLike = "int64", nan: _Nan = "propagate",
    empty: _Empty = "negative_infinity", initial: _Scalar | None = None, out: None = None,
    device: _Device = None,
) -> Tensor: ...
@overload
def reduce_max(
    x: Tensor, axis: _Axis = None, *, keepdims: bool = False, return_indices: Literal[True],
    select_last: bool = False, index_type: DTypeLike = "int64", nan: _Nan = "propagate",
    empty: _Empty = "negative_infinity", initial: None = None, out: None = None, device: _Device = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def reduce_max(
    x: ArrayLike, axis: _Axis = None, *, keepdims: bool = False, return_indices: Literal[False] = False,
    select_last: bool = False, index_type: DTypeLike = "int64", nan: _Nan = "propagate",
    empty: _Empty = "negative_infinity", initial: _Scalar | None = None, out: _Array | None = None,
    device: _Device = None,
) -> _Array: ...
@overload
def reduce_max(
    x: ArrayLike, axis: _Axis = None, *, keepdims: bool = False, return_indices: Literal[True],
    select_last: bool = False, index_type: DTypeLike = "int64", nan: _Nan = "propagate",
    empty: _Empty = "negative_infinity", initial: None = None, out: tuple[_Array, _Array] | None = None,
    device: _Device = None,
) -> tuple[_Array, _Array]: ...
@overload
def reduce_max(
    x: _Given, axis: _Axis = None, *, keepdims: bool = False, return_indices: bool,
    select_last: bool = False, index_type: DTypeLike = "int64", nan: _Nan = "propagate",
    empty: _Empty = "negative_infinity", initial: _Scalar | None = None,
    out: _Array | tuple[_Array, _Array] | None = None, device: _Device = None,
) -> Any: ...
reduce_min = reduce_max
@overload
def arg_max(
    x: Tensor, axis: _Axis = None, *, keepdims: bool = False, select_last: bool = False,
    index_type: DTypeLike = "int64", nan: _Nan = "propagate", out: None = None, device: _Device = None,
) -> Tensor: ...
@overload
def arg_max(
    x: ArrayLike, axis: _Axis = None, *, keepdims: bool = False, select_last: bool = False,
    index_type: DTypeLike = "int64", nan: _Nan = "propagate", out: _Array | None = None,
    device: _Device = None,
) -> _Array: ...
arg_min = arg_max
@overload
def max_pool(
    x: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Padding = 0, *,
    dilation: _Sizes = 1, ceil_mode: bool | Literal["all"] = False, return_indices: Literal[False] = False,
    layout: _Layout = "NCX", nan: _Nan = "propagate", empty: _Empty = "negative_infinity",
    initial: _Scalar | None = None, index_type: DTypeLike = "int64", index_axis: int | None = None,
    index_order: _Order = "row_major", out: None = None, device: _Device = None,
) -> Tensor: ...
@overload
def max_pool(
    x: Tensor, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Padding = 0, *,
    dilation: _Sizes = 1, ceil_mode: bool | Literal["all"] = False, return_indices: Literal[True],
    layout: _Layout = "NCX", nan: _Nan = "propagate", empty: _Empty = "negative_infinity",
    initial: None = None, index_type: DTypeLike = "int64", index_axis: int | None = None,
    index_order: _Order = "row_major", out: None = None, device: _Device = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool(
    x: ArrayLike, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Padding = 0, *,
    dilation: _Sizes = 1, ceil_mode: bool | Literal["all"] = False, return_indices: Literal[False] = False,
    layout: _Layout = "NCX", nan: _Nan = "propagate", empty: _Empty = "negative_infinity",
    initial: _Scalar | None = None, index_type: DTypeLike = "int64", index_axis: int | None = None,
    index_order: _Order = "row_major", out: _Array | None = None, device: _Device = None,
) -> _Array: ...
@overload
def max_pool(
    x: ArrayLike, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Padding = 0, *,
    dilation: _Sizes = 1, ceil_mode: bool | Literal["all"] = False, return_indices: Literal[True],
    layout: _Layout = "NCX", nan: _Nan = "propagate", empty: _Empty = "negative_infinity",
    initial: None = None, index_type: DTypeLike = "int64", index_axis: int | None = None,
    index_order: _Order = "row_major", out: tuple[_Array, _Array] | None = None, device: _Device = None,
) -> tuple[_Array, _Array]: ...
@overload
def max_pool(
    x: _Given, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Padding = 0, *,
    dilation: _Sizes = 1, ceil_mode: bool | Literal["all"] = False, return_indices: bool,
    layout: _Layout = "NCX", nan: _Nan = "propagate", empty: _Empty = "negative_infinity",
    initial: _Scalar | None = None, index_type: DTypeLike = "int64", index_axis: int | None = None,
    index_order: _Order = "row_major", out: _Array | tuple[_Array, _Array] | None = None,
    device: _Device = None,
) -> Any: ...
min_pool = max_pool
max_pool1d = max_pool
min_pool1d = max_pool
max_pool2d = max_pool
min_pool2d = max_pool
max_pool3d = max_pool
min_pool3d = max_pool
@overload
def adaptive_max_pool(
    x: Tensor, output_size: _OutputSizes, *, return_indices: Literal[False] = False,
    layout: _Layout = "NCX", nan: _Nan = "propagate", initial: _Scalar | None = None,
    index_type: DTypeLike = "int64", index_axis: int | None = None, index_order: _Order = "row_major",
    out: None = None, device: _Device = None,
) -> Tensor: ...
@overload
def adaptive_max_pool(
    x: Tensor, output_size: _OutputSizes, *, return_indices: Literal[True], layout: _Layout = "NCX",
    nan: _Nan = "propagate", initial: None = None, index_type: DTypeLike = "int64",
    index_axis: int | None = None, index_order: _Order = "row_major", out: None = None,
    device: _Device = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool(
    x: ArrayLike, output_size: _OutputSizes, *, return_indices: Literal[False] = False,
    layout: _Layout = "NCX", nan: _Nan = "propagate", initial: _Scalar | None = None,
    index_type: DTypeLike = "int64", index_axis: int | None = None, index_order: _Order = "row_major",
    out: _Array | None = None, device: _Device = None,
) -> _Array: ...
@overload
def adaptive_max_pool(
    x: ArrayLike, output_size: _OutputSizes, *, return_indices: Literal[True], layout: _Layout = "NCX",
    nan: _Nan = "propagate", initial: None = None, index_type: DTypeLike = "int64",
    index_axis: int | None = None, index_order: _Order = "row_major",
    out: tuple[_Array, _Array] | None = None, device: _Device = None,
) -> tuple[_Array, _Array]: ...
@overload
def adaptive_max_pool(
    x: _Given, output_size: _OutputSizes, *, return_indices: bool, layout: _Layout = "NCX",
    nan: _Nan = "propagate", initial: _Scalar | None = None, index_type: DTypeLike = "int64",
    index_axis: int | None = None, index_order: _Order = "row_major",
    out: _Array | tuple[_Array, _Array] | None = None, device: _Device = None,
) -> Any: ...
adaptive_min_pool = adaptive_max_pool
adaptive_max_pool1d = adaptive_max_pool
adaptive_min_pool1d = adaptive_max_pool
adaptive_max_pool2d = adaptive_max_pool
adaptive_min_pool2d = adaptive_max_pool
adaptive_max_pool3d = adaptive_max_pool
adaptive_min_pool3d = adaptive_max_pool
@overload
def segment_max(
    data: Tensor, segment_ids: _Given, num_segments: int | None = None, *, segments: _Segments = "sorted",
    mode: _Mode = "raise", empty: _EmptySegment = "zero", initial: _Scalar | None = None,
    return_indices: Literal[False] = False, index_type: DTypeLike = "int64", nan: _Nan = "propagate",
    out: None = None, device: _Device = None,
) -> Tensor: ...
@overload
def segment_max(
    data: Tensor, segment_ids: _Given, num_segments: int | None = None, *, segments: _Segments = "sorted",
    mode: _Mode = "raise", empty: _EmptySegment = "zero", initial: None = None,
    return_indices: Literal[True], index_type: DTypeLike = "int64", nan: _Nan = "propagate",
    out: None = None, device: _Device = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def segment_max(
    data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None, *,
    segments: _Segments = "sorted", mode: _Mode = "raise", empty: _EmptySegment = "zero",
    initial: _Scalar | None = None, return_indices: Literal[False] = False, index_type: DTypeLike = "int64",
    nan: _Nan = "propagate", out: _Array | None = None, device: _Device = None,
) -> _Array: ...
@overload
def segment_max(
    data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None, *,
    segments: _Segments = "sorted", mode: _Mode = "raise", empty: _EmptySegment = "zero",
    initial: None = None, return_indices: Literal[True], index_type: DTypeLike = "int64",
    nan: _Nan = "propagate", out: tuple[_Array, _Array] | None = None, device: _Device = None,
) -> tuple[_Array, _Array]: ...
@overload
def segment_max(
    data: _Given, segment_ids: _Given, num_segments: int | None = None, *, segments: _Segments = "sorted",
    mode: _Mode = "raise", empty: _EmptySegment = "zero", initial: _Scalar | None = None,
    return_indices: bool = False, index_type: DTypeLike = "int64", nan: _Nan = "propagate",
    out: _Array | tuple[_Array, _Array] | None = None, device: _Device = None,
) -> Any: ...
segment_min = segment_max
@overload
def scatter_max(
    data: Tensor, indices: _Given, updates: _Given, axis: int = 0, *, vectors: bool = False,
    include_data: bool = True, return_indices: Literal[False] = False, index_type: DTypeLike = "int64",
    nan: _Nan = "propagate", out: None = None, device: _Device = None,
) -> Tensor: ...
@overload
def scatter_max(
    data: Tensor, indices: _Given, updates: _Given, axis: int = 0, *, vectors: bool = False,
    include_data: bool = True, return_indices: Literal[True], index_type: DTypeLike = "int64",
    nan: _Nan = "propagate", out: None = None, device: _Device = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def scatter_max(
    data: ArrayLike, indices: ArrayLike, updates: ArrayLike, axis: int = 0, *, vectors: bool = False,
    include_data: bool = True, return_indices: Literal[False] = False, index_type: DTypeLike = "int64",
    nan: _Nan = "propagate", out: _Array | None = None, device: _Device = None,
) -> _Array: ...
@overload
def scatter_max(
    data: ArrayLike, indices: ArrayLike, updates: ArrayLike, axis: int = 0, *, vectors: bool = False,
    include_data: bool = True, return_indices: Literal[True], index_type: DTypeLike = "int64",
    nan: _Nan = "propagate", out: tuple[_Array, _Array] | None = None, device: _Device = None,
) -> tuple[_Array, _Array]: ...
@overload
def scatter_max(
    data: _Given, indices: _Given, updates: _Given, axis: int = 0, *, vectors: bool = False,
    include_data: bool = True, return_indices: bool = False, index_type: DTypeLike = "int64",
    nan: _Nan = "propagate", out: _Array | tuple[_Array, _Array] | None = None, device: _Device = None,
) -> Any: ...
scatter_min = scatter_max
@overload
def reduce_max_backward(
    x: ArrayLike, gradient: ArrayLike, axis: _Axis = None, *, shape: _Sizes | None = None,
    keepdims: bool = False, select_last: bool = False, index_type: DTypeLike = "int64",
    nan: _Nan = "propagate", out: _Array | None = None, device: _Device = None,
) -> _Array: ...
@overload
def reduce_max_backward(
    x: _Given, gradient: _Given, axis: _Axis = None, *, shape: _Sizes | None = None,
    keepdims: bool = False, select_last: bool = False, index_type: DTypeLike = "int64",
    nan: _Nan = "propagate", out: _Array | None = None, device: _Device = None,
) -> Any: ...
reduce_min_backward = reduce_max_backward
@overload
def max_pool_backward(
    x: ArrayLike, gradient: ArrayLike, kernel_size: _Sizes, stride: _Sizes | None = None,
    padding: _Padding = 0, *, shape: _Sizes | None = None, dilation: _Sizes = 1,
    ceil_mode: bool | Literal["all"] = False, layout: _Layout = "NCX", nan: _Nan = "propagate",
    empty: _Empty = "negative_infinity", index_type: DTypeLike = "int64", index_axis: int | None = None,
    index_order: _Order = "row_major", out: _Array | None = None, device: _Device = None,
) -> _Array: ...
@overload
def max_pool_backward(
    x: _Given, gradient: _Given, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Padding = 0,
    *, shape: _Sizes | None = None, dilation: _Sizes = 1, ceil_mode: bool | Literal["all"] = False,
    layout: _Layout = "NCX", nan: _Nan = "propagate", empty: _Empty = "negative_infinity",
    index_type: DTypeLike = "int64", index_axis: int | None = None, index_order: _Order = "row_major",
    out: _Array | None = None, device: _Device = None,
) -> Any: ...
min_pool_backward = max_pool_backward
@overload
def adaptive_max_pool_backward(
    x: ArrayLike, gradient: ArrayLike, output_size: _OutputSizes, *, shape: _Sizes | None = None,
    layout: _Layout = "NCX", nan: _Nan = "propagate", index_type: DTypeLike = "int64",
    index_axis: int | None = None, index_order: _Order = "row_major", out: _Array | None = None,
    device: _Device = None,
) -> _Array: ...
@overload
def adaptive_max_pool_backward(
    x: _Given, gradient: _Given, output_size: _OutputSizes, *, shape: _Sizes | None = None,
    layout: _Layout = "NCX", nan: _Nan = "propagate", index_type: DTypeLike = "int64",
    index_axis: int | None = None, index_order: _Order = "row_major", out: _Array | None = None,
    device: _Device = None,
) -> Any: ...
adaptive_min_pool_backward = adaptive_max_pool_backward
@overload
def segment_max_backward(
    data: ArrayLike, segment_ids: ArrayLike | None, gradient: ArrayLike, *, shape: _Sizes | None = None,
    segments: _Segments = "sorted", mode: _Mode = "raise", index_type: DTypeLike = "int64",
    nan: _Nan = "propagate", out: _Array | None = None, device: _Device = None,
) -> _Array: ...
@overload
def segment_max_backward(
    data: _Given, segment_ids: _Given | None, gradient: _Given, *, shape: _Sizes | None = None,
    segments: _Segments = "sorted", mode: _Mode = "raise", index_type: DTypeLike = "int64",
    nan: _Nan = "propagate", out: _Array | None = None, device: _Device = None,
) -> Any: ...
segment_min_backward = segment_max_backward
@overload
def scatter_max_backward(
    data: ArrayLike, indices: ArrayLike | None, updates: ArrayLike | None, gradient: ArrayLike, axis: int = 0,
    *, shape: _Sizes | None = None, vectors: bool = False, include_data: bool = True,
    index_type: DTypeLike = "int64", nan: _Nan = "propagate", out: tuple[_Array, _Array] | None = None,
    device: _Device = None,
) -> tuple[_Array, _Array]: ...
@overload
def scatter_max_backward(
    data: _Given, indices: _Given | None, updates: _Given | None, gradient: _Given, axis: int = 0, *,
    shape: _Sizes | None = None, vectors: bool = False, include_data: bool = True,
    index_type: DTypeLike = "int64", nan: _Nan = "propagate", out: tuple[_Array, _Array] | None = None,
    device: _Device = None,
) -> Any: ...
scatter_min_backward = scatter_max_backward
@overload
def max_unpool(
    values: ArrayLike, indices: ArrayLike, shape: _Sizes, *, indices_within: _Sizes | None = None,
    out: _Array | None = None, device: _Device = None,
) -> _Array: ...
@overload
def max_unpool(
    values: _Given, indices: _Given, shape: _Sizes, *, indices_within: _Sizes | None = None,
    out: _Array | None = None, device: _Device = None,
) -> Any: ...
