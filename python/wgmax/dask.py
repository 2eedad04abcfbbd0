"""The operators on Dask arrays, which may be larger than any machine.

Each chunk is computed on the worker that has it, and the maxima of chunks are combined. A maximum never
rounds, so results do not depend on chunks.

``device`` is the name of a device, which each worker opens; the CPU by default. ``'auto'`` is the worker's
hardware GPU or else its CPU.

Examples
--------
>>> import dask.array as da, wgmax.dask
>>> x = da.arange(12, chunks=5).reshape(3, 4)
>>> wgmax.dask.reduce_max(x, axis=1).compute()
array([ 3,  7, 11])
>>> ids = da.from_array([2, 0, 2], chunks=2)
>>> wgmax.dask.segment_max(x, ids, 3).compute()
array([[ 4,  5,  6,  7],
       [ 0,  0,  0,  0],
       [ 8,  9, 10, 11]])
"""

import functools
import itertools
import math
from typing import Any

import dask.array as da
import numpy as np

from . import _node, _wgmax

__all__ = [
    "arg_max", "arg_min", "max_pool", "min_pool", "reduce_max", "reduce_min", "scatter_max", "scatter_min",
    "segment_max", "segment_min",
]  # fmt: skip

_REDUCE = {"max": _wgmax.reduce_max, "min": _wgmax.reduce_min}
_POOL = {"max": _wgmax.max_pool, "min": _wgmax.min_pool}
_SEGMENT = {"max": _wgmax.segment_max, "min": _wgmax.segment_min}
_SCATTER = {"max": _wgmax.scatter_max, "min": _wgmax.scatter_min}


def _native(x):
    """The same elements in the byte order of this machine, which results have."""
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))


def _without_empty_chunks(x):
    """The same elements. Dask takes an axis of one element in several chunks for one that is repeated."""
    if not any(x.shape):
        # Dask does not rechunk these.
        return da.zeros(x.shape, dtype=x.dtype, chunks=x.shape) if x.ndim else x
    return x.rechunk(tuple(tuple(size for size in sizes if size) or (0,) for sizes in x.chunks))


def _is_float(dtype):
    """Whether a dtype has NaN: numpy's floats, and bfloat16, whose kind is V."""
    return np.dtype(dtype).kind in "fV"


def reduce_max(
    x,
    axis=None,
    *,
    keepdims=False,
    return_indices=False,
    select_last=False,
    nan="propagate",
    empty="negative_infinity",
    device=None,
    split_every=None,
) -> Any:
    """The maximum along axes of a Dask array, as `wgmax.reduce_max` computes it.

    Parameters
    ----------
    x : dask.array.Array
    axis : int or tuple of int, optional
        The axes to reduce; all by default.
    keepdims : bool
        Whether reduced axes are kept, with size 1.
    return_indices, select_last : bool
        Whether the positions of the maxima are a second result, as int64, and whether they are those of the
        last of equal elements. As with `wgmax.reduce_max`, they may change the sign of a maximum that is zero.
    nan : {'propagate', 'ignore'}
    empty : {'negative_infinity', 'lowest'}
        The result of an empty set of floats.
    device : str, optional
        The device that workers open.
    split_every : int, optional
        How many partial results are combined at a time; Dask's own choice by default.

    Returns
    -------
    dask.array.Array, or a tuple of two with `return_indices`
    """
    return _reduce("max", **locals())


def reduce_min(
    x,
    axis=None,
    *,
    keepdims=False,
    return_indices=False,
    select_last=False,
    nan="propagate",
    empty="negative_infinity",
    device=None,
    split_every=None,
) -> Any:
    """The minimum along axes of a Dask array. The arguments are those of `reduce_max`."""
    return _reduce("min", **locals())


def arg_max(
    x,
    axis=None,
    *,
    keepdims=False,
    select_last=False,
    nan="propagate",
    device=None,
    split_every=None,
) -> da.Array:
    """The positions of the maxima along axes of a Dask array, as int64.

    The arguments are those of `reduce_max`. Sizes must be known.
    """
    return _reduce("max", **locals(), return_indices=True, empty="negative_infinity")[1]


def arg_min(
    x,
    axis=None,
    *,
    keepdims=False,
    select_last=False,
    nan="propagate",
    device=None,
    split_every=None,
) -> da.Array:
    """The positions of the minima along axes. The arguments are those of `arg_max`."""
    return _reduce("min", **locals(), return_indices=True, empty="negative_infinity")[1]


def _reduce(
    extremum, x, axis, keepdims, nan, empty, device, split_every, return_indices=False, select_last=False
):
    x = _native(x)
    # Wrong axes and attributes are errors now, before a worker runs.
    flags = {"keepdims": keepdims, "return_indices": return_indices, "select_last": select_last}
    _REDUCE[extremum](np.zeros((1,) * x.ndim, x.dtype), axis, nan=nan, empty=empty, **flags)
    axes = range(x.ndim) if axis is None else np.atleast_1d(axis).tolist()
    axes = tuple(int(each) % x.ndim for each in axes)
    if return_indices:
        return _reduce_indexed(extremum, x, axes, keepdims, nan, select_last, device, split_every)
    unknown = any(math.isnan(x.shape[each]) for each in axes)
    if unknown and _is_float(x.dtype) and (nan, empty) != ("propagate", "negative_infinity"):
        # All chunks may turn out to be empty, which the maxima do not show.
        raise _wgmax.ArgumentError(
            f"nan={nan!r} and empty={empty!r} need known sizes: x.compute_chunk_sizes() finds them"
        )
    if not axes:
        return x.map_blocks(
            _reduce_block, extremum, (), nan, empty, device, dtype=x.dtype, meta=_meta(x, x.ndim)
        )
    if any(x.shape[each] == 0 for each in axes):
        # There are no elements at all, so there is no chunk whose part counts.
        shape = [1 if each in axes else size for each, size in enumerate(x.shape)]
        value = _REDUCE[extremum](np.empty(0, x.dtype), empty=empty)
        full = da.full(shape, value, dtype=x.dtype)
        return full if keepdims else full.squeeze(axes)

    options = {"extremum": extremum, "nan": nan, "device": device}
    combine = functools.partial(_combine_block, **options)
    return da.reduction(
        x,
        chunk=functools.partial(_partial_block, **options),
        combine=combine,
        aggregate=combine,
        axis=axes,
        keepdims=keepdims,
        dtype=x.dtype,
        meta=_meta(x, x.ndim if keepdims else x.ndim - len(axes)),
        split_every=split_every,
        name=f"wgmax-reduce-{extremum}",
    )


def _reduce_block(block, extremum, axes, nan, empty, device):
    """The partial maxima of a block. Empty sets do not change the maxima of other blocks."""
    if nan == "ignore" and _is_float(block.dtype) and any(block.shape[each] == 0 for each in axes):
        shape = [1 if each in axes else size for each, size in enumerate(block.shape)]
        return np.full(shape, np.nan, block.dtype)
    options = {"keepdims": True, "nan": nan, "empty": empty, "device": device}
    return np.asarray(_REDUCE[extremum](block, axes, **options))


def _partial_block(block, axis, keepdims, extremum, nan, device):
    return _reduce_block(block, extremum, axis, nan, "negative_infinity", device)


def _combine_block(blocks, axis, keepdims, extremum, nan, device):
    found = _reduce_block(blocks, extremum, axis, nan, "negative_infinity", device)
    return found if keepdims else np.squeeze(found, axis)


# Values and positions are computed together, as records: the bits of an element, and its position in the
# whole, -1 if there is none.


def _records(values, at):
    values, at = np.asarray(values), np.asarray(at)
    found = np.empty(at.shape, [("bits", f"u{values.dtype.itemsize}"), ("at", np.int64)])
    found["bits"], found["at"] = values.view(found.dtype["bits"]), at
    return found


def _values(records, dtype):
    return np.array(records["bits"]).view(dtype)


def _split_records(records, dtype):
    """The two arrays of records."""
    fields = [(_values, dtype), (lambda records, _: records["at"], np.dtype(np.int64))]
    return tuple(
        records.map_blocks(take, dtype, dtype=kind, meta=np.empty((0,) * records.ndim, kind))
        for take, kind in fields
    )


def _reduce_records(records, axes, keepdims, split_every, **options):
    combine = functools.partial(_combine_records, **options)
    return da.reduction(
        records,
        chunk=combine,
        combine=combine,
        aggregate=combine,
        axis=axes,
        keepdims=keepdims,
        dtype=records.dtype,
        meta=np.empty((0,) * (records.ndim if keepdims else records.ndim - len(axes)), records.dtype),
        split_every=split_every,
        name=f"wgmax-records-{da.core.tokenize(records.name, axes, keepdims, options)}",
    )


def _combine_records(records, axis, keepdims, extremum, elements, nan, select_last, device):
    """The first or last of the records whose elements equal the extremum."""
    values, at = _values(records, elements), records["at"]
    best = _REDUCE[extremum](values, axis, keepdims=True, nan=nan, device=device)
    equal = values == best
    if _is_float(elements):
        equal |= np.isnan(values) & np.isnan(best)
    none = -1 if select_last else np.iinfo(np.int64).max
    at = np.where(equal & (at >= 0), at, none)
    chosen = at.max(axis, keepdims=True) if select_last else at.min(axis, keepdims=True)
    bits = np.where(at == chosen, records["bits"], 0).max(axis, keepdims=True)
    found = _records(bits, np.where(chosen == none, -1, chosen))
    return found if keepdims else found.squeeze(axis)


def _reduce_indexed(extremum, x, axes, keepdims, nan, select_last, device, split_every):
    _check_known(x, "positions need")
    if any(x.shape[each] == 0 for each in axes):
        raise _wgmax.ArgumentError("a reduction of no elements has no position")
    x = _without_empty_chunks(x)
    chunks = [(1,) * len(sizes) if at in axes else sizes for at, sizes in enumerate(x.chunks)]
    kind = _records(np.empty(0, x.dtype), np.empty(0, np.int64)).dtype
    options = {"extremum": extremum, "nan": nan, "select_last": select_last, "device": device}
    records = x.map_blocks(
        _records_block, axes, x.shape, **options, chunks=tuple(chunks), dtype=kind,
        meta=np.empty((0,) * x.ndim, kind),
    )  # fmt: skip
    if axes:
        records = _reduce_records(records, axes, keepdims, split_every, elements=x.dtype, **options)
    return _split_records(records, x.dtype)


def _records_block(block, axes, shape, extremum, nan, select_last, device, block_info=None):
    """The extrema of a block, with their positions in the whole."""
    options = {"keepdims": True, "return_indices": True, "select_last": select_last}
    values, at = _REDUCE[extremum](block, axes, nan=nan, device=device, **options)
    begins = [begin for begin, _ in block_info[0]["array-location"]]
    order = sorted(axes)
    places = np.unravel_index(np.asarray(at), [block.shape[each] for each in order]) if order else ()
    places = tuple(place + begins[each] for place, each in zip(places, order))
    whole = [shape[each] for each in order]
    return _records(values, np.ravel_multi_index(places, whole) if order else np.zeros_like(at))


def _check_known(x, what):
    if any(math.isnan(size) for size in x.shape):
        raise _wgmax.ArgumentError(f"{what} known sizes: x.compute_chunk_sizes() finds them")


def _meta(x, ndim):
    return np.empty((0,) * ndim, x.dtype)


def segment_max(
    data,
    segment_ids,
    num_segments=None,
    *,
    segments="unsorted",
    mode="raise",
    empty="zero",
    return_indices=False,
    nan="propagate",
    device=None,
    split_every=None,
) -> Any:
    """The maximum of the rows of each segment of a Dask array.

    Parameters
    ----------
    data : dask.array.Array
        Of shape [rows, ...].
    segment_ids : dask.array.Array or array_like
        An integer for each row, or offsets. A row with a negative id belongs to no segment.
    num_segments : int, optional
        How many segments there are. By default the ids are computed now, to find the largest.
    segments : {'unsorted', 'sorted', 'offsets'}
        Ids in any order; ascending ids, which each chunk checks; or offsets, one more than there are
        segments, which are computed now.
    mode : {'raise', 'drop'}
        Whether an id at or above `num_segments` is an error of the computation, or its row is dropped.
    empty : {'zero', 'lowest', 'negative_infinity'}
        The result of a segment without rows.
    return_indices : bool
        Whether the rows of the maxima are a second result, as int64, -1 for a segment without rows.
    nan : {'propagate', 'ignore'}
    device : str, optional
        The device that workers open.
    split_every : int, optional
        How many partial results are combined at a time; Dask's own choice by default.

    Returns
    -------
    dask.array.Array, or a tuple of two with `return_indices`
        Of shape [num_segments, ...], in one chunk along the first axis.
    """
    return _segment("max", **locals())


def segment_min(
    data,
    segment_ids,
    num_segments=None,
    *,
    segments="unsorted",
    mode="raise",
    empty="zero",
    return_indices=False,
    nan="propagate",
    device=None,
    split_every=None,
) -> Any:
    """The minimum of the rows of each segment. The arguments are those of `segment_max`."""
    return _segment("min", **locals())


def scatter_max(
    data, indices, updates, axis=0, *, include_data=True, return_indices=False, nan="propagate", device=None
) -> Any:  # fmt: skip
    """For each element of a Dask array, the maximum of itself and of the updates that go to it along an axis.

    Parameters
    ----------
    data : dask.array.Array
    indices, updates : dask.array.Array or array_like
        As for `wgmax.scatter_max`: of one shape, no larger than `data` along the other axes. An index that
        names no element is an error of the computation.
    axis : int
        The axis along which indices count. It becomes one chunk.
    include_data : bool
        Whether an element of `data` that has updates takes part in the maximum.
    return_indices : bool
        Whether to return also the update that each maximum comes from, as int64, -1 for `data` itself.
    nan : {'propagate', 'ignore'}
    device : str, optional
        The device that workers open.

    Returns
    -------
    dask.array.Array of the shape of `data`, or a tuple of two with `return_indices`
    """
    return _scatter("max", **locals())


def scatter_min(
    data, indices, updates, axis=0, *, include_data=True, return_indices=False, nan="propagate", device=None
) -> Any:  # fmt: skip
    """The minimum of each element and its updates. The arguments are those of `scatter_max`."""
    return _scatter("min", **locals())


def _scatter(extremum, data, indices, updates, axis, include_data, return_indices, nan, device):
    data, indices, updates = (_native(da.asarray(each)) for each in (data, indices, updates))
    for given in (data, indices, updates):
        _check_known(given, "scatters need")
    data, indices, updates = (_without_empty_chunks(each) for each in (data, indices, updates))
    options = {"include_data": include_data, "return_indices": return_indices, "nan": nan}
    # Wrong attributes, types and ranks are errors now.
    nothing = (np.zeros((0,) * each.ndim, each.dtype) for each in (indices, updates))
    _SCATTER[extremum](np.zeros((1,) * data.ndim, data.dtype), *nothing, axis, **options)
    axis = int(axis) % data.ndim
    others = [at for at in range(data.ndim) if at != axis]
    sizes = updates.shape
    if indices.shape != sizes or any(sizes[at] > data.shape[at] for at in others):
        raise _wgmax.ArgumentError(
            f"indices and updates must have one shape, no larger than {data.shape} but along axis {axis}; "
            f"they have {indices.shape} and {sizes}"
        )
    kind = _records(np.empty(0, data.dtype), np.empty(0, np.int64)).dtype if return_indices else data.dtype
    named = data[tuple(slice(None) if at == axis else slice(sizes[at]) for at in range(data.ndim))]
    named = named.rechunk({axis: -1})
    chunks = {at: -1 if at == axis else named.chunks[at] for at in range(data.ndim)}
    given = [each.rechunk(chunks) for each in (indices, updates)]
    found = da.map_blocks(
        _scatter_block, named, *given, extremum, axis, options, device, chunks=named.chunks, dtype=kind,
        meta=np.empty((0,) * data.ndim, kind),
    )  # fmt: skip
    # Elements that no update can name are kept: those beyond the updates along each other axis.
    for at in others:
        if sizes[at] < data.shape[at]:
            within = [slice(None) if each == axis or each < at else slice(sizes[each]) for each in range(data.ndim)]
            within[at] = slice(sizes[at], None)
            rest = data[tuple(within)]
            if return_indices:
                rest = rest.map_blocks(_kept_records, dtype=kind, meta=np.empty((0,) * data.ndim, kind))
            found = da.concatenate([found, rest], axis=at)
    return _split_records(found, data.dtype) if return_indices else found


def _scatter_block(data, indices, updates, extremum, axis, options, device):
    found = _SCATTER[extremum](data, indices, updates, axis, **options, device=device)
    return _records(*found) if options["return_indices"] else np.asarray(found)


def _kept_records(block):
    return _records(block, np.full(block.shape, -1))


def _ids_of_offsets(rows, offsets):
    """The segment of each row; -1 for rows before the first one and after the last."""
    found = np.searchsorted(offsets, rows, side="right") - 1
    return np.where(found < len(offsets) - 1, found, -1)


def _segment(
    extremum, data, segment_ids, num_segments, segments, mode, empty, return_indices, nan, device,
    split_every,
):  # fmt: skip
    data, ids = _native(da.asarray(data)), segment_ids
    if not isinstance(ids, da.Array):
        ids = _node.array(ids)
        ids = da.from_array(ids if ids.size else ids.astype(np.int64), chunks=-1)
    for given in (data, ids):
        _check_known(given, "segments need")
    if not data.ndim:
        raise _wgmax.ArgumentError("the data needs at least one axis")
    data, ids = _without_empty_chunks(data), _without_empty_chunks(ids)
    if segments == "offsets":
        offsets = _node.array(ids.compute())
        is_right = offsets.ndim == 1 and offsets.dtype.kind in "iu" and offsets.size
        # Numbers that are too large for int64 become negative.
        offsets = offsets.astype(np.int64)
        if not is_right or (np.diff([0, *offsets, data.shape[0]]) < 0).any():
            raise _wgmax.ArgumentError(f"offsets must be integers that ascend up to {data.shape[0]} rows")
        if num_segments not in (None, len(offsets) - 1):
            raise _wgmax.ArgumentError(f"there are {len(offsets) - 1} segments, not {num_segments}")
        num_segments = len(offsets) - 1
        rows = da.arange(data.shape[0], chunks=(data.chunks[0],))
        ids = rows.map_blocks(_ids_of_offsets, offsets, dtype=np.int64)
        segments = "unsorted"
    if num_segments is None:
        largest = reduce_max(ids, device=device).compute() if ids.size else -1
        num_segments = max(int(largest), -1) + 1
    # Wrong attributes, types and shapes are errors now. Larger shapes are not allocated.
    row = np.zeros((1,) * data.ndim, data.dtype)
    _SEGMENT[extremum](
        row[:0],
        np.zeros((0,) * ids.ndim, ids.dtype),
        min(num_segments, 1),
        segments=segments,
        mode=mode,
        empty=empty,
        nan=nan,
    )
    if ids.shape[0] != data.shape[0]:
        raise _wgmax.ArgumentError(
            f"segment_ids has a length of {ids.shape[0]}, but needs {data.shape[0]}"
        )
    ids = ids.rechunk({0: data.chunks[0]})
    names = list("abcdefghijklmnopqrstuvwxyz"[: data.ndim])
    if len(names) < data.ndim:
        raise _wgmax.ArgumentError(f"{data.ndim} axes are more than Dask arrays have here")
    options = {"extremum": extremum, "count": num_segments, "mode": mode, "nan": nan, "device": device}
    options["segments"] = segments

    def partials(block, given, indices, meta):
        return da.blockwise(
            block,
            ["a", "segment", *indices[1:]],
            *given,
            new_axes={"segment": num_segments},
            adjust_chunks={"a": 1},
            dtype=meta.dtype,
            meta=meta,
            **options,
        )

    value = _SEGMENT[extremum](row, np.zeros(1, np.int32), 2, empty=empty)[1].reshape(-1)[0]
    if return_indices:
        rows = da.arange(data.shape[0], chunks=(data.chunks[0],))
        kind = _records(np.empty(0, data.dtype), np.empty(0, np.int64)).dtype
        records = partials(
            _segment_records_block, [data, names, ids, names[:1], rows, names[:1]], names,
            np.empty((0,) * (data.ndim + 1), kind),
        )  # fmt: skip
        both = {"extremum": extremum, "elements": data.dtype, "nan": nan, "select_last": False, "device": device}
        records = _reduce_records(records, (0,), False, split_every, **both)
        values, at = _split_records(records, data.dtype)
        options = {"value": value, "dtype": data.dtype, "meta": _meta(data, data.ndim)}
        return da.map_blocks(_fill_absent, values, at, **options), at
    values = partials(
        _segment_block, [data, names, ids, names[:1]], names, _meta(data, data.ndim + 1)
    )
    values = _reduce(extremum, values, 0, False, nan, "lowest", device, split_every)
    present = partials(
        _presence_block, [ids, names[:1]], names[:1], np.empty((0, 0), np.bool_)
    )
    present = _reduce("max", present, 0, False, "propagate", "lowest", device, split_every)
    return da.blockwise(
        _fill_block,
        ["segment", *names[1:]],
        values,
        ["segment", *names[1:]],
        present,
        ["segment"],
        value=value,
        dtype=data.dtype,
        meta=_meta(data, data.ndim),
    )


def _segment_records_block(data, ids, rows, extremum, count, mode, nan, segments, device):
    """The partial maxima of a block's segments, with their rows in the whole."""
    options = {"segments": segments, "mode": mode, "nan": nan, "device": device}
    options.update(empty="negative_infinity", return_indices=True)
    values, at = _SEGMENT[extremum](data, ids, count, **options)
    if nan == "ignore" and _is_float(data.dtype):
        values = np.where(at < 0, np.asarray(np.nan, data.dtype), values)
    at = np.where(at < 0, -1, rows[at]) if len(rows) else at
    return _records(values, at)[np.newaxis]


def _segment_block(data, ids, extremum, count, mode, nan, segments, device):
    """The partial maxima of a block's segments. Segments without rows do not change those of other blocks."""
    options = {"segments": segments, "mode": mode, "nan": nan, "device": device}
    found = _SEGMENT[extremum](data, ids, count, empty="negative_infinity", **options)
    if nan == "ignore" and _is_float(data.dtype):
        found = _fill_block(found, _presence_block(ids, "max", count, mode, nan, segments, device)[0], np.nan)
    return found[np.newaxis]


def _presence_block(ids, extremum, count, mode, nan, segments, device):
    """Which segments have rows."""
    rows = np.ones(len(ids), np.bool_)
    found = _wgmax.segment_max(rows, ids, count, segments=segments, mode=mode, device=device)
    return found[np.newaxis]


def _fill_absent(values, at, value):
    return np.where(at < 0, value, values)


def _fill_block(values, present, value):
    """Stores a value in segments without rows."""
    if not present.all():
        values = values.copy()
        values[~present] = value
    return values


def max_pool(
    x,
    kernel_size,
    stride=None,
    padding=0,
    *,
    dilation=1,
    ceil_mode=False,
    return_indices=False,
    layout="NCX",
    nan="propagate",
    empty="negative_infinity",
    device=None,
) -> Any:
    """The maximum of each window of a Dask array, as `wgmax.max_pool` computes it.

    A chunk of results is computed from the elements that its windows cover: its own, and the edges of
    neighbours. Any chunks and attributes are valid.

    Parameters
    ----------
    x : dask.array.Array
        Of shape [batch, channels, spatial...], or [batch, spatial..., channels].
    kernel_size, stride, padding, dilation, ceil_mode, layout, nan, empty
        As for `wgmax.max_pool`.
    return_indices : bool
        Whether the positions of the maxima are a second result, as int64, from the first spatial axis
        on. With the layout NXC all channels are then moved to one chunk. As with
        `wgmax.max_pool`, they may change the sign of a maximum that is zero.
    device : str, optional
        The device that workers open.

    Returns
    -------
    dask.array.Array, or a tuple of two with `return_indices`
    """
    return _pool("max", **locals())


def min_pool(
    x,
    kernel_size,
    stride=None,
    padding=0,
    *,
    dilation=1,
    ceil_mode=False,
    return_indices=False,
    layout="NCX",
    nan="propagate",
    empty="negative_infinity",
    device=None,
) -> Any:
    """The minimum of each window. The arguments are those of `max_pool`."""
    return _pool("min", **locals())


class _Axis:
    """The windows along a spatial axis."""

    def __init__(self, size, windows, kernel, stride, dilation, before):
        self.size, self.windows, self.kernel = size, windows, kernel
        self.stride, self.dilation, self.before = stride, dilation, before

    def chunks(self, given):
        """Chunks of windows: those that begin in one chunk of elements, or before the first."""
        ends = [-((-end - self.before) // self.stride) for end in itertools.accumulate(given)]
        ends = [min(max(end, 0), self.windows) for end in ends]
        if ends:
            ends[-1] = self.windows
        begins = [0, *ends[:-1]]
        found = [(begin, end) for begin, end in zip(begins, ends) if begin < end]
        return found or [(0, self.windows)]

    def part(self, begin, end):
        """What windows cover: the range of elements, and the padding before and after them."""
        first = begin * self.stride - self.before
        last = (end - 1) * self.stride - self.before + (self.kernel - 1) * self.dilation + 1
        start, stop = max(first, 0), min(last, self.size)
        # Windows of padding alone read no elements.
        return (start, stop, start - first, last - stop) if start < stop else (0, 0, last - first, 0)

    def is_empty(self, begin, end):
        """For each window whether it has no elements."""
        first = np.arange(begin, end) * self.stride - self.before
        taps = first[:, np.newaxis] + np.arange(self.kernel) * self.dilation
        return ~((taps >= 0) & (taps < self.size)).any(axis=1)


def _pool(
    extremum, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices, layout, nan,
    empty, device,
):  # fmt: skip
    x = _native(x)
    _check_known(x, "a pooling needs")
    padding = 0 if padding is None else padding
    dilation = 1 if dilation is None else dilation
    options = {"nan": nan, "empty": empty, "layout": layout}
    shape = _wgmax._pool_shape(
        x.shape, x.dtype, kernel_size, stride, padding,
        dilation=dilation, ceil_mode=ceil_mode, **options,
    )  # fmt: skip
    spatial = x.ndim - 2
    first = 2 if layout == "NCX" else 1

    def each(value):
        return (int(value),) * spatial if np.ndim(value) == 0 else tuple(int(v) for v in value)

    kernel, dilation = each(kernel_size), each(dilation)
    stride = kernel if stride is None else each(stride)
    axes = []
    for number in range(spatial):
        size, windows = x.shape[first + number], shape[first + number]
        extent = (kernel[number] - 1) * dilation[number] + 1
        if isinstance(padding, str):
            # As much as ceil(size / stride) windows need, whatever their actual number.
            same = -(-size // stride[number])
            pads = max((same - 1) * stride[number] + extent - size, 0)
            before = {"valid": 0, "same_upper": pads // 2, "same_lower": pads - pads // 2}[padding]
        else:
            before = padding if np.ndim(padding) == 0 else padding[number]
            before = before if np.ndim(before) == 0 else before[0]
        axes.append(
            _Axis(size, windows, kernel[number], stride[number], dilation[number], int(before))
        )
    pieces = [axis.chunks(x.chunks[first + number]) for number, axis in enumerate(axes)]
    options.update(kernel_size=kernel, stride=stride, dilation=dilation, device=device)

    def results(wanted):
        def nested(number, part, chosen):
            if number < spatial:
                parts = []
                for begin, end in pieces[number]:
                    start, stop, _, _ = axes[number].part(begin, end)
                    index = (slice(None),) * (first + number) + (slice(start, stop),)
                    parts.append(nested(number + 1, part[index], [*chosen, (begin, end)]))
                return da.concatenate(parts, axis=first + number)
            ranges = [axis.part(*range_) for axis, range_ in zip(axes, chosen)]
            together = {first + number: -1 for number in range(spatial)}
            if wanted == 1 and layout == "NXC":
                # Indices count channels too.
                together[x.ndim - 1] = -1
            part = part.rechunk(together)
            chunks = list(part.chunks)
            for number, (begin, end) in enumerate(chosen):
                chunks[first + number] = (end - begin,)
            dtype = np.dtype(np.int64) if wanted == 1 else x.dtype
            return part.map_blocks(
                _pool_block,
                extremum,
                axes,
                chosen,
                ranges,
                first,
                wanted,
                options,
                chunks=tuple(chunks),
                dtype=dtype,
                meta=np.empty((0,) * x.ndim, dtype),
                name=f"wgmax-{extremum}-pool-"
                + da.core.tokenize(part.name, x.shape, options, chosen, ranges, wanted),
            )

        return nested(0, x, [])

    return (results(0), results(1)) if return_indices else results(None)


def _pool_block(block, extremum, axes, chosen, ranges, first, wanted, options):
    """The maxima of the windows of a part; with indices, `wanted` selects the maxima (0) or the indices (1)."""
    padding = [(before, after) for _, _, before, after in ranges]
    found = _POOL[extremum](block, padding=padding, return_indices=wanted is not None, **options)
    if wanted != 1:
        return found if wanted is None else found[0]
    # From positions in the part to positions in the plane.
    spatial = len(axes)
    plane, rest = 0, found[1]
    channels, channel = 1, 0
    if first == 1:
        channels = block.shape[-1]
        channel = np.arange(channels)
        rest = rest // max(channels, 1)
    for number in range(spatial):
        inner = math.prod(stop - start for start, stop, _, _ in ranges[number + 1 :])
        at, rest = np.divmod(rest, inner) if inner else (rest, rest)
        plane = plane * axes[number].size + at + ranges[number][0]
    for number, (axis, range_) in enumerate(zip(axes, chosen)):
        is_empty = axis.is_empty(*range_)
        shape = [-1 if each == first + number else 1 for each in range(block.ndim)]
        plane = np.where(is_empty.reshape(shape), 0, plane)
    return plane * channels + channel
