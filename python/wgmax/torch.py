"""PyTorch's functions of maxima and minima, on CPU tensors, with gradients.

The names and arguments are PyTorch's. Tensors are read in place, bfloat16 too, whatever their strides;
results are not copied. Every function is an operator of `torch.library`: `torch.compile` traces it,
and `torch.autograd` differentiates it twice. ``device`` is the name of the wgmax device that computes.

Values, indices and gradients are PyTorch's, with these differences:

- Without indices, the maximum of -0 and +0 is +0 and the minimum -0; PyTorch returns either.
- A NaN result is the canonical NaN. The index, and so the gradient, is that of the first NaN. In a pooling
  PyTorch selects the last one.
- A window without elements, which dilations may put in the padding, drops its gradient; PyTorch passes it to
  some element.
- If windows overlap, gradients of float16 and bfloat16 are added and then rounded once; PyTorch rounds after
  each addition.
- `segment_reduce` shares every gradient evenly among equal elements, as `amax` does; PyTorch does not share
  negative ones.
- `scatter_reduce` has gradients also where `src` is larger than `index`. Without `include_self` it shares a
  gradient among the elements of `src` alone; PyTorch also counts an element of `input` that equals the result.
- All NaNs are equal in the gradient of `scatter_reduce`; PyTorch's is NaN there.
- All functions take integers and bool, also unsigned integers of 16 to 64 bits.
- Derivatives are those of `torch.autograd`: forward mode and `torch.func.grad` are errors.

Examples
--------
>>> import torch, wgmax.torch
>>> x = torch.tensor([[1.0, 3, 3], [2, 0, 1]], requires_grad=True)
>>> wgmax.torch.amax(x, 1).sum().backward()
>>> x.grad
tensor([[0.0000, 0.5000, 0.5000],
        [1.0000, 0.0000, 0.0000]])
>>> wgmax.torch.max_pool1d(x.detach(), 2, stride=1, return_indices=True)
(tensor([[3., 3.],
        [2., 1.]]), tensor([[1, 1],
        [0, 2]]))
"""

import math
import operator
from typing import Any, Callable, NamedTuple, Optional, Sequence, Union

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad as _forward

from . import _wgmax

__all__ = [
    "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d", "amax", "amin", "max",
    "max_pool1d", "max_pool2d", "max_pool3d", "min", "scatter_reduce", "segment_reduce",
]  # fmt: skip

_Ints = Union[int, Sequence[int]]
_OutputSizes = Union[int, None, Sequence[Optional[int]]]
_Pooled = Union[Tensor, tuple[Tensor, Tensor]]


class Extremum(NamedTuple):
    """The result of `max` and `min` along a dimension."""

    values: Tensor
    indices: Tensor


def _array(x: Tensor) -> Any:
    """The memory of a tensor as an array."""
    x = x.detach().resolve_neg()
    if x.dtype != torch.bfloat16:
        return x.numpy()
    import ml_dtypes

    return x.view(torch.int16).numpy().view(ml_dtypes.bfloat16)


def _tensor(found: Any) -> Tensor:
    """The memory of an array as a tensor."""
    array = np.asarray(found)
    if array.dtype.kind != "V":
        return torch.from_numpy(array)
    return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)


def _of(low: bool, name: str) -> Callable[..., Any]:
    """The function of maxima with this name, or that of minima."""
    found: Callable[..., Any] = getattr(_wgmax, name.replace("max", "min") if low else name)
    return found


class _Operator:
    """An operator of `torch.library`. `fake` makes tensors without elements."""

    def __init__(self, name: str, fake: Callable[..., Any], run: Callable[..., Any]) -> None:
        self.made = torch.library.custom_op(f"wgmax::{name}", run, mutates_args=(), device_types="cpu")
        self.made.register_fake(fake)
        self.register_autograd = self.made.register_autograd

    def __call__(self, *args: Any) -> Any:
        # The library would drop tangents without an error.
        if _forward._current_level >= 0:
            for each in args:
                if isinstance(each, Tensor) and _forward.unpack_dual(each)[1] is not None:  # type: ignore[no-untyped-call]
                    raise NotImplementedError("wgmax.torch has no derivatives in forward mode (jvp)")
        return self.made(*args)


# Reductions.


def _reduced(x: Tensor, dims: Sequence[int], keepdim: bool) -> list[int]:
    kept = [1 if at in dims else size for at, size in enumerate(x.shape)]
    return kept if keepdim else [size for at, size in enumerate(x.shape) if at not in dims]


def _run_extreme(
    x: Tensor, dims: list[int], keepdim: bool, low: bool, equal_nan: bool, device: str
) -> Tensor:
    found = _of(low, "reduce_max")(_array(x), tuple(dims), keepdims=keepdim, device=device)
    return _tensor(found)


def _fake_extreme(
    x: Tensor, dims: list[int], keepdim: bool, low: bool, equal_nan: bool, device: str
) -> Tensor:
    return x.new_empty(_reduced(x, dims, keepdim))


def _run_position(
    x: Tensor, dim: int, keepdim: bool, low: bool, device: str
) -> tuple[Tensor, Tensor]:
    dims = (dim,) if x.ndim else ()
    options = {"keepdims": keepdim, "return_indices": True, "device": device}
    values, indices = _of(low, "reduce_max")(_array(x), dims, **options)
    return _tensor(values), _tensor(indices)


def _fake_position(
    x: Tensor, dim: int, keepdim: bool, low: bool, device: str
) -> tuple[Tensor, Tensor]:
    shape = _reduced(x, [dim], keepdim)
    return x.new_empty(shape), x.new_empty(shape, dtype=torch.int64)


_extreme = _Operator("extreme", _fake_extreme, _run_extreme)
_position = _Operator("position", _fake_position, _run_position)


def _save_extreme(ctx: Any, inputs: Any, output: Tensor) -> None:
    x, ctx.dims, ctx.keepdim, _, ctx.equal_nan, _ = inputs
    ctx.save_for_backward(x, output)


def _share(ctx: Any, gradient: Tensor) -> Any:
    x, found = ctx.saved_tensors
    if not ctx.keepdim:
        for dim in ctx.dims:
            found, gradient = found.unsqueeze(dim), gradient.unsqueeze(dim)
    equal = found == x
    if ctx.equal_nan:
        equal = equal | (found.isnan() & x.isnan())
        shared = torch.where(equal, gradient / equal.sum(), 0)
    else:
        shared = gradient * equal / (equal.sum(ctx.dims, True) if ctx.dims else equal)
    return shared, None, None, None, None, None


def _save_position(ctx: Any, inputs: Any, output: Any) -> None:
    x, ctx.dim, ctx.keepdim, *_ = inputs
    ctx.shape = x.shape
    ctx.save_for_backward(output[1])


def _scatter(ctx: Any, gradient: Tensor, _: Any) -> Any:
    (indices,) = ctx.saved_tensors
    if not ctx.keepdim and ctx.shape:
        indices, gradient = indices.unsqueeze(ctx.dim), gradient.unsqueeze(ctx.dim)
    found = gradient.new_zeros(ctx.shape).scatter(ctx.dim, indices, gradient)
    return found, None, None, None, None


_extreme.register_autograd(_share, setup_context=_save_extreme)
_position.register_autograd(_scatter, setup_context=_save_position)


def _listed(given: _Ints) -> list[int]:
    """Integers, of Python or of numpy. One alone is a list of one."""
    if not isinstance(given, (list, tuple)):
        try:
            return [_integer(given)]
        except TypeError:
            pass
    return [_integer(each) for each in given]  # type: ignore[union-attr]


def _integer(given: Any) -> int:
    if isinstance(given, (bool, np.bool_)):
        raise _wgmax.ArgumentError(f"an integer is needed, not {given}")
    # That of a compiled graph stays symbolic.
    return given if isinstance(given, int) else operator.index(given)


def _dims(input: Tensor, dim: Optional[_Ints]) -> list[int]:
    """The dimensions in ascending order."""
    given = _listed(() if dim is None else dim)
    rank = input.ndim or 1
    for each in given:
        if not -rank <= each < rank:
            raise _wgmax.AxisError(each, input.ndim)
    found = {each % rank for each in given}
    if len(found) < len(given):
        raise _wgmax.ArgumentError("a dimension is given twice")
    if not found:
        return list(range(input.ndim))
    return sorted(found) if input.ndim else []


def _extremum(
    input: Tensor, dims: list[int], keepdim: bool, low: bool, equal_nan: bool, device: str
) -> Tensor:
    _check_sizes(input, dims)
    found: Tensor = _extreme(input, dims, keepdim, low, equal_nan, device)
    return found


def _check_sizes(input: Tensor, dims: Sequence[int]) -> None:
    if any(input.shape[dim] == 0 for dim in dims):
        raise _wgmax.ArgumentError("a dimension without elements has no extremum")


def amax(input: Tensor, dim: Optional[_Ints] = (), keepdim: bool = False, *, device: str = "cpu") -> Tensor:
    """As `torch.amax`. Equal elements share the gradient evenly; if the result is NaN, so is the gradient."""
    return _extremum(input, _dims(input, dim), keepdim, False, False, device)


def amin(input: Tensor, dim: Optional[_Ints] = (), keepdim: bool = False, *, device: str = "cpu") -> Tensor:
    """As `torch.amin`. The gradient is that of `amax`."""
    return _extremum(input, _dims(input, dim), keepdim, True, False, device)


def _max(
    input: Tensor, dim: Optional[int], keepdim: bool, low: bool, device: str
) -> Union[Tensor, Extremum]:
    if dim is None:
        return _extremum(input, _dims(input, ()), False, low, True, device)
    dim = _integer(dim)
    _check_sizes(input, _dims(input, dim))
    return Extremum(*_position(input, dim % (input.ndim or 1), keepdim, low, device))


def max(
    input: Tensor, dim: Optional[int] = None, keepdim: bool = False, *, device: str = "cpu"
) -> Union[Tensor, Extremum]:
    """As `torch.max` of one tensor: of all elements, or the values and indices along a dimension.

    With a dimension, the index and the gradient are those of the first of equal elements. Without, equal
    elements share the gradient, and all NaNs are equal.
    """
    return _max(input, dim, keepdim, False, device)


def min(
    input: Tensor, dim: Optional[int] = None, keepdim: bool = False, *, device: str = "cpu"
) -> Union[Tensor, Extremum]:
    """As `torch.min` of one tensor, and otherwise as `max`."""
    return _max(input, dim, keepdim, True, device)


# Poolings. A window is a list of sizes, strides, pads and dilations; if windows split the axes evenly, of
# their numbers only.


def _split(window: list[int]) -> list[list[int]]:
    rank = len(window) // 4
    return [window[at : at + rank] for at in range(0, len(window), rank)] if rank else [window]


def _shape(x: Tensor, window: list[int], ceil_mode: bool) -> list[int]:
    """The shape of the results."""
    sizes, *rest = _split(window)
    first = x.ndim - len(sizes)
    found = list(x.shape[:first])
    if not rest:
        return found + sizes
    for size, taps, stride, pad, dilation in zip(x.shape[first:], sizes, *rest):
        room = size + 2 * pad - (taps - 1) * dilation - 1
        count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
        if ceil_mode and (count - 1) * stride >= size + pad:
            count -= 1
        found.append(count)
    return found


def _call(
    name: str, low: bool, args: list[Any], window: list[int], ceil_mode: bool, **options: Any
) -> Any:
    sizes, *rest = _split(window)
    if not rest:
        return _of(low, "adaptive_max_pool" + name)(*args, sizes, **options)
    options.update(dilation=rest.pop(), ceil_mode=ceil_mode)
    return _of(low, "max_pool" + name)(*args, sizes, *rest, **options)


def _run_pool(x: Tensor, window: list[int], ceil_mode: bool, low: bool, device: str) -> Tensor:
    name = f"{len(_split(window)[0])}d"
    return _tensor(_call(name, low, [_array(x)], window, ceil_mode, device=device))


def _fake_pool(x: Tensor, window: list[int], ceil_mode: bool, low: bool, device: str) -> Tensor:
    return x.new_empty(_shape(x, window, ceil_mode))


def _run_pool_positions(
    x: Tensor, window: list[int], ceil_mode: bool, low: bool, device: str
) -> tuple[Tensor, Tensor]:
    options = {"return_indices": True, "device": device}
    name = f"{len(_split(window)[0])}d"
    values, indices = _call(name, low, [_array(x)], window, ceil_mode, **options)
    return _tensor(values), _tensor(indices)


def _fake_pool_positions(
    x: Tensor, window: list[int], ceil_mode: bool, low: bool, device: str
) -> tuple[Tensor, Tensor]:
    shape = _shape(x, window, ceil_mode)
    return x.new_empty(shape), x.new_empty(shape, dtype=torch.int64)


def _run_pool_backward(
    data: Tensor, gradient: Tensor, shape: list[int], window: list[int], ceil_mode: bool, low: bool,
    device: str,
) -> Tensor:  # fmt: skip
    """`data` are the elements, or the indices."""
    options: dict[str, Any] = {"device": device}
    batched = [1] * (len(_split(window)[0]) + 2 - len(shape)) + shape
    if data.dtype == torch.int64:
        options["shape"] = batched
    args = [_array(each.view(batched[:-len(each.shape)] + list(each.shape))) for each in (data, gradient)]
    return _tensor(_call("_backward", low, args, window, ceil_mode, **options)).view(shape)


def _fake_pool_backward(
    data: Tensor, gradient: Tensor, shape: list[int], window: list[int], ceil_mode: bool, low: bool,
    device: str,
) -> Tensor:  # fmt: skip
    return gradient.new_empty(shape)


_pool = _Operator("pool", _fake_pool, _run_pool)
_pool_positions = _Operator("pool_positions", _fake_pool_positions, _run_pool_positions)
_pool_backward = _Operator("pool_backward", _fake_pool_backward, _run_pool_backward)


def _save_pool(ctx: Any, inputs: Any, output: Any) -> None:
    x, *ctx.rest = inputs
    ctx.shape = x.shape
    ctx.save_for_backward(output[1] if isinstance(output, tuple) else x)


def _back(ctx: Any, gradient: Tensor, *_: Any) -> Any:
    (data,) = ctx.saved_tensors
    return _pool_backward(data, gradient, ctx.shape, *ctx.rest), None, None, None, None


def _save_pool_backward(ctx: Any, inputs: Any, output: Tensor) -> None:
    data, _, _, *ctx.rest = inputs
    ctx.save_for_backward(data)


def _gather(ctx: Any, gradient: Tensor) -> Any:
    (data,) = ctx.saved_tensors
    indices = data if data.dtype == torch.int64 else _pool_positions(data, *ctx.rest)[1]
    first = -len(_split(ctx.rest[0])[0])
    found = gradient.flatten(first).gather(-1, indices.flatten(first)).view(indices.shape)
    # A window without elements, which is infinite, has no part in the gradient.
    found = torch.where(_pool(torch.zeros_like(gradient), *ctx.rest).isinf(), 0, found)
    return None, found, None, None, None, None, None


_pool.register_autograd(_back, setup_context=_save_pool)
_pool_positions.register_autograd(_back, setup_context=_save_pool)
_pool_backward.register_autograd(_gather, setup_context=_save_pool_backward)


def _pooled(
    rank: int, input: Tensor, window: list[int], ceil_mode: bool, return_indices: bool, device: str
) -> _Pooled:
    if input.ndim not in (rank + 1, rank + 2):
        raise _wgmax.ArgumentError(
            f"{rank}-D pooling takes {rank + 1} or {rank + 2} dimensions, but input has {input.ndim}"
        )
    run = _pool_positions if return_indices else _pool
    found: _Pooled = run(input, window, ceil_mode, False, device)
    return found


def _max_pool(
    rank: int, input: Tensor, kernel_size: _Ints, stride: Optional[_Ints], padding: _Ints,
    dilation: _Ints, ceil_mode: bool, return_indices: bool, device: str,
) -> _Pooled:  # fmt: skip
    if stride is None or isinstance(stride, Sequence) and not stride:
        stride = kernel_size
    window = []
    for name, minimum, value in [
        ("kernel_size", 1, kernel_size), ("stride", 1, stride), ("padding", 0, padding),
        ("dilation", 1, dilation),
    ]:  # fmt: skip
        # One number, perhaps in a list, stands for all axes.
        each = _listed(value)
        each = each * rank if len(each) == 1 else each
        if len(each) != rank or any(number < minimum for number in each):
            raise _wgmax.ArgumentError(f"{name} must be {rank} integers from {minimum} on, but is {value}")
        window += each
    for taps, _, pad, step in zip(*_split(window)):
        if 2 * pad > (taps - 1) * step + 1:
            raise _wgmax.ArgumentError(f"padding must be at most half a window, but is {pad}")
    return _pooled(rank, input, window, ceil_mode, return_indices, device)


def max_pool1d(
    input: Tensor, kernel_size: _Ints, stride: Optional[_Ints] = None, padding: _Ints = 0,
    dilation: _Ints = 1, ceil_mode: bool = False, return_indices: bool = False, *, device: str = "cpu",
) -> _Pooled:  # fmt: skip
    """As `torch.nn.functional.max_pool1d`: of [N, C, L] or [C, L]."""
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, device)


def max_pool2d(
    input: Tensor, kernel_size: _Ints, stride: Optional[_Ints] = None, padding: _Ints = 0,
    dilation: _Ints = 1, ceil_mode: bool = False, return_indices: bool = False, *, device: str = "cpu",
) -> _Pooled:  # fmt: skip
    """As `torch.nn.functional.max_pool2d`: of [N, C, H, W] or [C, H, W]."""
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, device)


def max_pool3d(
    input: Tensor, kernel_size: _Ints, stride: Optional[_Ints] = None, padding: _Ints = 0,
    dilation: _Ints = 1, ceil_mode: bool = False, return_indices: bool = False, *, device: str = "cpu",
) -> _Pooled:  # fmt: skip
    """As `torch.nn.functional.max_pool3d`: of [N, C, D, H, W] or [C, D, H, W]."""
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, device)


def _adaptive(
    rank: int, input: Tensor, output_size: _OutputSizes, return_indices: bool, device: str
) -> _Pooled:
    given: Any = output_size
    if output_size is None:
        given = [None] * rank
    elif not isinstance(output_size, (list, tuple)):
        given = _listed(output_size)  # type: ignore[arg-type]
        given = given * rank if len(given) == 1 else given
    sizes = [own if size is None else _integer(size) for size, own in zip(given, input.shape[-rank:])]
    if len(given) != rank:
        raise _wgmax.ArgumentError(f"output_size must have {rank} sizes, but is {output_size}")
    return _pooled(rank, input, sizes, False, return_indices, device)


def adaptive_max_pool1d(
    input: Tensor, output_size: _OutputSizes, return_indices: bool = False, *, device: str = "cpu"
) -> _Pooled:
    """As `torch.nn.functional.adaptive_max_pool1d`: of [N, C, L] or [C, L]."""
    return _adaptive(1, input, output_size, return_indices, device)


def adaptive_max_pool2d(
    input: Tensor, output_size: _OutputSizes, return_indices: bool = False, *, device: str = "cpu"
) -> _Pooled:
    """As `torch.nn.functional.adaptive_max_pool2d`: of [N, C, H, W] or [C, H, W]."""
    return _adaptive(2, input, output_size, return_indices, device)


def adaptive_max_pool3d(
    input: Tensor, output_size: _OutputSizes, return_indices: bool = False, *, device: str = "cpu"
) -> _Pooled:
    """As `torch.nn.functional.adaptive_max_pool3d`: of [N, C, D, H, W] or [C, D, H, W]."""
    return _adaptive(3, input, output_size, return_indices, device)


# Segments, by offsets for each of the outer indices before the axis.


def _run_segment(
    data: Tensor, offsets: Tensor, low: bool, initial: Optional[float], device: str
) -> Tensor:
    axis, count = offsets.ndim - 1, offsets.shape[-1] - 1
    outer, rows = math.prod(data.shape[:axis]), data.shape[axis]
    shape = [*data.shape[:axis], count, *data.shape[axis + 1 :]]
    if not math.prod(shape):
        return data.new_empty(shape)
    # Of one outer index, wgmax checks the offsets. Those of several must stay within their own rows.
    offsets = offsets.reshape(outer, -1)
    if outer > 1 and (torch.nn.functional.pad(offsets, (1, 0)).diff() < 0).logical_or(offsets > rows).any():
        raise _wgmax.ArgumentError(f"offsets must ascend from 0 or more, at most to the {rows} rows of axis")
    # Between the segments of two outer indices, one more has the rows that belong to none.
    starts = offsets + torch.arange(outer).unsqueeze(1) * rows
    flat = data.reshape(outer * rows, *data.shape[axis + 1 :])
    options = {"segments": "offsets", "empty": "negative_infinity", "initial": initial, "device": device}
    found = _tensor(_of(low, "segment_max")(_array(flat), _array(starts.flatten()), **options))
    found = torch.cat([found, found[:1]]).view(outer, count + 1, -1)[:, :-1] if outer > 1 else found
    return found.reshape(shape).contiguous()


def _fake_segment(
    data: Tensor, offsets: Tensor, low: bool, initial: Optional[float], device: str
) -> Tensor:
    axis = offsets.ndim - 1
    shape = [*data.shape[:axis], offsets.shape[-1] - 1, *data.shape[axis + 1 :]]
    return data.new_empty(shape)


_segment = _Operator("segment", _fake_segment, _run_segment)


def _save_segment(ctx: Any, inputs: Any, output: Tensor) -> None:
    ctx.save_for_backward(inputs[0], inputs[1], output)


def _share_in_segments(ctx: Any, gradient: Tensor) -> Any:
    data, offsets, found = ctx.saved_tensors
    if not found.numel():
        return torch.zeros_like(data), None, None, None, None
    axis = offsets.ndim - 1
    rows = torch.arange(data.shape[axis]).expand(*data.shape[:axis], -1).contiguous()
    # The segment of each row; rows before the first offset and after the last belong to none.
    ids = torch.searchsorted(offsets.contiguous(), rows, right=True) - 1
    inside = (ids >= 0) & (ids < found.shape[axis])
    ids = ids.clamp(0, found.shape[axis] - 1)
    inner = (..., *[None] * (data.ndim - axis - 1))
    ids, inside = ids[inner].expand_as(data), inside[inner]
    own = found.gather(axis, ids)
    equal = ((data == own) | (data.isnan() & own.isnan())) & inside
    count = torch.zeros_like(found, dtype=torch.int64).scatter_add(axis, ids, equal.long())
    shared = torch.where(equal, (gradient / count.clamp(min=1)).gather(axis, ids), 0)
    return shared, None, None, None, None


_segment.register_autograd(_share_in_segments, setup_context=_save_segment)


def segment_reduce(
    data: Tensor, reduce: str, *, lengths: Optional[Tensor] = None, indices: Optional[Tensor] = None,
    offsets: Optional[Tensor] = None, axis: int = 0, unsafe: bool = False,
    initial: Optional[float] = None, device: str = "cpu",
) -> Tensor:  # fmt: skip
    """As `torch.segment_reduce`, with ``'max'`` or ``'min'`` as ``reduce``.

    A segment without rows has minus infinity, or infinity for the minimum, or `initial`, which takes part
    in every segment. Equal elements share the gradient evenly, and all NaNs are equal.
    """
    if reduce not in ("max", "min"):
        raise _wgmax.ArgumentError(f"reduce must be 'max' or 'min', but is {reduce!r}")
    if indices is not None or (lengths is None) == (offsets is None):
        raise _wgmax.ArgumentError("segment_reduce needs lengths or offsets, and takes no indices")
    given = offsets if lengths is None else lengths
    assert given is not None
    if not data.is_floating_point():
        raise _wgmax.ArgumentError(f"segment_reduce takes floats, but data is {data.dtype}")
    axis = _integer(axis)
    if not -data.ndim <= axis < data.ndim:
        raise _wgmax.AxisError(axis, data.ndim)
    axis = axis % data.ndim
    if given.ndim != axis + 1 or given.shape[:-1] != data.shape[:axis]:
        raise _wgmax.ArgumentError(
            "lengths or offsets must have the dimensions of data before axis, and one of segments"
        )
    if lengths is not None:
        if not unsafe and ((lengths < 0).any() or (lengths.sum(-1) != data.shape[axis]).any()):
            raise _wgmax.ArgumentError("lengths must be 0 or more, and have the size of axis as sum")
        given = torch.nn.functional.pad(lengths.cumsum(-1), (1, 0))
    found: Tensor = _segment(data, given, reduce == "min", initial, device)
    return found


# Scatters.


def _run_scatter(
    x: Tensor, dim: int, index: Tensor, src: Tensor, low: bool, include_self: bool, device: str
) -> Tensor:
    # wgmax counts such an index from the end.
    if index.numel() and int(index.min()) < 0:
        raise _wgmax.ArgumentError(f"index {int(index.min())} is below 0")
    options = {"include_data": include_self, "device": device}
    return _tensor(_of(low, "scatter_max")(_array(x), _array(index), _array(src), dim, **options))


def _fake_scatter(
    x: Tensor, dim: int, index: Tensor, src: Tensor, low: bool, include_self: bool, device: str
) -> Tensor:
    return x.new_empty(x.shape)


_scattered = _Operator("scatter", _fake_scatter, _run_scatter)


def _save_scatter(ctx: Any, inputs: Any, output: Tensor) -> None:
    x, ctx.dim, index, src, _, ctx.include_self, _ = inputs
    ctx.save_for_backward(x, index, src, output)


def _share_scattered(ctx: Any, gradient: Tensor) -> Any:
    x, index, src, found = ctx.saved_tensors
    dim = ctx.dim
    own = found.gather(dim, index)
    of_src = (src == own) | (src.isnan() & own.isnan())
    of_x = (x == found) | (x.isnan() & found.isnan())
    counted = of_x if ctx.include_self else of_x.scatter(dim, index, False)
    shared = gradient / counted.long().scatter_add(dim, index, of_src.long())
    # By products, as PyTorch: other elements have zeros with the gradient's sign.
    own = of_x * shared if ctx.include_self else (of_x * shared).scatter(dim, index, 0)
    return own, None, None, of_src * shared.gather(dim, index), None, None, None


_scattered.register_autograd(_share_scattered, setup_context=_save_scatter)


def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True,
    device: str = "cpu",
) -> Tensor:  # fmt: skip
    """As `torch.scatter_reduce`, with ``'amax'`` or ``'amin'`` as ``reduce``.

    An element that no index names keeps its bits. Equal elements share the gradient evenly, and all NaNs are
    equal.
    """
    if reduce not in ("amax", "amin"):
        raise _wgmax.ArgumentError(f"reduce must be 'amax' or 'amin', but is {reduce!r}")
    if index.is_floating_point() or index.is_complex() or index.dtype == torch.bool:
        raise _wgmax.ArgumentError(f"index must have integers, but is {index.dtype}")
    x, index, src = (each if each.ndim else each[None] for each in (input, index.long(), src))
    dim = _integer(dim)
    if not -x.ndim <= dim < x.ndim:
        raise _wgmax.AxisError(dim, input.ndim)
    if x.dtype != src.dtype:
        raise _wgmax.ArgumentError(f"input and src must have one dtype, not {x.dtype} and {src.dtype}")
    if not index.numel():
        return input.clone()
    if not x.ndim == index.ndim == src.ndim or any(a > b for a, b in zip(index.shape, src.shape)):
        raise _wgmax.ArgumentError(
            f"index {tuple(index.shape)} must have the dimensions of input {tuple(x.shape)}, and no more "
            f"elements along each than src {tuple(src.shape)}"
        )
    src = src[tuple(slice(size) for size in index.shape)]
    found: Tensor = _scattered(x, dim % x.ndim, index, src, reduce == "amin", include_self, device)
    return found.reshape(input.shape)
