"""Dask arrays against the same on one machine, whatever the chunks."""

import itertools

import dask.array as da
import ml_dtypes
import numpy as np
import pytest
from conftest import assert_same, random_array

import wgmax
import wgmax.dask
import wgmax.onnx
import wgmax.openvino

DTYPES = [np.dtype(each) for each in ["f4", "f2", "i1", "u8", "?"]] + [
    np.dtype(ml_dtypes.bfloat16),
    # Not in the byte order of most machines.
    np.dtype(">i4"),
    np.dtype(">f8"),
]


def chunked(x, seed):
    """Random chunks."""
    random = np.random.default_rng(seed)
    chunks = []
    for size in x.shape:
        # Some chunks have no elements.
        cuts = np.sort(random.integers(0, size + 1, random.integers(0, 4))).tolist()
        chunks.append(tuple(np.diff([0, *cuts, size]).tolist()))
    return da.from_array(x, chunks=tuple(chunks))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reductions(dtype, device):
    x = random_array(dtype, (9, 7, 11))
    if dtype.kind in "fV":
        x[2] = np.nan
    for seed, nan in itertools.product(range(4), ["propagate", "ignore"]):
        parts = chunked(x, seed)
        for axis, keepdims in [(None, False), (0, True), ((0, -1), False), ((1, 2), True), ((), False)]:
            options = dict(keepdims=keepdims, nan=nan)
            found = wgmax.dask.reduce_max(parts, axis, device=device, split_every=2, **options)
            expected = wgmax.reduce_max(x, axis, **options)
            assert found.shape == expected.shape and found.dtype == expected.dtype
            assert_same(found.compute(), expected)
        found = wgmax.dask.reduce_min(parts, 1, nan=nan, device=device).compute()
        assert_same(found, wgmax.reduce_min(x, 1, nan=nan))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_positions(dtype, device):
    """As on one machine, also where equal elements are in several chunks, and where all are NaN."""
    for seed in range(24):
        random = np.random.default_rng(seed)
        shape = tuple(int(size) for size in random.integers(1, 9, random.integers(1, 4)))
        x = random_array(dtype, shape, seed)
        if dtype.kind in "fV":
            x[random.random(shape) < 0.3] = np.nan
            x[..., 0] = np.nan
        axis = tuple(int(each) for each in random.permutation(x.ndim) if random.random() < 0.7)
        options = dict(
            keepdims=bool(random.integers(2)), select_last=bool(random.integers(2)),
            nan=str(random.choice(["propagate", "ignore"])),
        )  # fmt: skip
        low = "min" if random.random() < 0.5 else "max"
        whole = getattr(wgmax, f"reduce_{low}")(x, axis, return_indices=True, **options)
        parts = chunked(x, seed)
        more = dict(device=device, split_every=2)
        found = getattr(wgmax.dask, f"reduce_{low}")(parts, axis, return_indices=True, **options, **more)
        at = getattr(wgmax.dask, f"arg_{low}")(parts, axis, **options, **more)
        for a, b in zip([*found, at], [*whole, whole[1]]):
            assert a.shape == b.shape and a.dtype == b.dtype
            assert_same(a.compute(), b)
    chosen = da.ones((4, 3), chunks=2)[da.from_array([True, False, False, True], chunks=2)]
    with pytest.raises(wgmax.ArgumentError, match="known sizes"):
        wgmax.dask.arg_max(chosen, 0)
    with pytest.raises(wgmax.ArgumentError, match="no position"):
        wgmax.dask.arg_max(da.zeros((0, 3)), 0)
    assert wgmax.dask.arg_max(da.zeros((0, 3)), 1).compute().shape == (0,)
    empty = chosen.compute_chunk_sizes()[:0].rechunk(1)
    assert wgmax.dask.arg_max(da.concatenate([empty, da.arange(6, chunks=2).reshape(2, 3)]), 0).compute().tolist() == [1] * 3


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", ["sorted", "unsorted", "offsets"])
def test_kinds_of_segments(dtype, kind, device):
    for seed in range(12):
        random = np.random.default_rng(seed)
        data = random_array(dtype, (int(random.integers(0, 30)), 3), seed)
        ids, count = random.integers(-1, 6, len(data)), 7
        if dtype.kind in "fV":
            data[ids == 3] = np.nan
        if kind == "sorted":
            ids = np.sort(np.abs(ids))
        if kind == "offsets":
            ids, count = np.sort(random.integers(0, len(data) + 1, 5)), None
        options = dict(
            segments=kind, nan=str(random.choice(["propagate", "ignore"])),
            empty=str(random.choice(["zero", "lowest", "negative_infinity"])),
        )  # fmt: skip
        name = "segment_min" if random.random() < 0.5 else "segment_max"
        parts, chunked_ids = chunked(data, seed), chunked(ids, seed + 1)
        find = lambda flag: getattr(wgmax.dask, name)(
            parts, chunked_ids, count, return_indices=flag, device=device, split_every=2, **options
        )
        assert_same(find(False).compute(), getattr(wgmax, name)(data, ids, count, **options))
        for a, b in zip(find(True), getattr(wgmax, name)(data, ids, count, return_indices=True, **options)):
            assert a.shape == b.shape and a.dtype == b.dtype
            assert_same(a.compute(), b)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_scatters(dtype, device):
    for seed in range(16):
        random = np.random.default_rng(seed)
        shape = tuple(int(size) for size in random.integers(1, 7, random.integers(1, 4)))
        axis = int(random.integers(len(shape)))
        x = random_array(dtype, shape, seed)
        of = [int(random.integers(0, size + 1)) if random.integers(2) else size for size in shape]
        of[axis] = int(random.integers(0, 9))
        indices = random.integers(-shape[axis], shape[axis], of)
        updates = random_array(dtype, of, seed + 1)
        options = dict(
            axis=axis - len(shape) if random.integers(2) else axis, include_data=bool(random.integers(2)),
            nan=str(random.choice(["propagate", "ignore"])), return_indices=bool(random.integers(2)),
        )  # fmt: skip
        low = bool(random.integers(2))
        ours = wgmax.dask.scatter_min if low else wgmax.dask.scatter_max
        one = wgmax.scatter_min if low else wgmax.scatter_max
        given = [chunked(each, seed + at) for at, each in enumerate((x, indices, updates))]
        found, expected = ours(*given, device=device, **options), one(x, indices, updates, **options)
        several = options["return_indices"]
        for a, b in zip(found if several else (found,), expected if several else (expected,)):
            assert a.shape == b.shape and a.dtype == b.dtype
            assert_same(a.compute(), b)


def test_wrong_scatters():
    x = da.zeros((4, 6), chunks=3)
    at = da.zeros((4, 2), dtype="i8", chunks=2)
    assert wgmax.dask.scatter_max(x, at, np.ones((4, 2)), 1).compute().sum() == 4
    with pytest.raises(wgmax.AxisError):
        wgmax.dask.scatter_max(x, at, at.astype(x.dtype), 2)
    for updates in [np.ones((4, 3)), np.ones((4, 2), "f4"), np.ones(8)]:
        with pytest.raises(wgmax.ArgumentError):
            wgmax.dask.scatter_max(x, at, updates, 1)
    with pytest.raises(wgmax.ArgumentError):
        wgmax.dask.scatter_max(x[:3], at, np.ones((4, 2)), 1)
    with pytest.raises(wgmax.ArgumentError, match="out of range"):
        wgmax.dask.scatter_max(x, at + 6, np.ones((4, 2)), 1).compute()


def test_wrong_segments():
    with pytest.raises(wgmax.ArgumentError, match="at least one axis"):
        wgmax.dask.segment_max(da.asarray(3.0), [0])
    x = da.ones((4, 2), chunks=2)
    with pytest.raises(wgmax.ArgumentError, match="must ascend"):
        wgmax.dask.segment_max(x, [1, 0, 2, 3], 4, segments="sorted").compute()
    for offsets in [[0, 5], [2, 1], [-1, 2], [], [0.5], [[0, 1]], np.array([2**64 - 1], "u8")]:
        with pytest.raises(wgmax.ArgumentError, match="offsets must be"):
            wgmax.dask.segment_max(x, np.array(offsets), segments="offsets")
    with pytest.raises(wgmax.ArgumentError, match="there are 1 segments"):
        wgmax.dask.segment_max(x, [0, 4], 2, segments="offsets")


def test_xarray():
    """The example of the README: names of axes, and chunks."""
    xarray = pytest.importorskip("xarray")
    x = np.random.default_rng(1).random((4, 3, 8, 6)).astype("f4")
    pictures = xarray.DataArray(x, dims=["time", "channel", "y", "x"], coords={"time": [1, 2, 3, 4]})
    for given in [pictures, pictures.chunk(time=2)]:
        found = xarray.apply_ufunc(
            wgmax.reduce_max, given, kwargs={"axis": (-2, -1)}, input_core_dims=[["y", "x"]],
            dask="parallelized", output_dtypes=[x.dtype],
        )  # fmt: skip
        assert found.dims == ("time", "channel") and found.time.values.tolist() == [1, 2, 3, 4]
        assert_same(found.values, x.max((2, 3)))
        pooled = xarray.apply_ufunc(
            wgmax.max_pool2d, given, 2, input_core_dims=[["channel", "y", "x"], []],
            output_core_dims=[["channel", "y", "x"]], exclude_dims={"y", "x"}, dask="parallelized",
            output_dtypes=[x.dtype], dask_gufunc_kwargs={"output_sizes": {"y": 4, "x": 3}},
        )  # fmt: skip
        assert_same(pooled.values, wgmax.max_pool(x, 2))


@pytest.mark.parametrize("empty", ["negative_infinity", "lowest"])
@pytest.mark.parametrize("nan", ["propagate", "ignore"])
def test_no_elements(empty, nan):
    options = dict(empty=empty, nan=nan)
    x = np.zeros((0, 4), np.float32)
    found = wgmax.dask.reduce_max(da.from_array(x, chunks=2), 0, **options)
    assert_same(found.compute(), wgmax.reduce_max(x, 0, **options))
    found = wgmax.dask.reduce_max(da.from_array(x, chunks=2), 0, keepdims=True, **options)
    assert_same(found.compute(), wgmax.reduce_max(x, 0, keepdims=True, **options))
    # Chunks without elements beside others, and sets of nothing but NaN or minus infinity.
    x = np.array([[np.nan, -np.inf, 1], [np.nan, -np.inf, np.nan]], np.float32)
    whole = np.concatenate([np.ones((2, 3), np.float32), x, np.ones((2, 3), np.float32)])
    parts = da.from_array(whole, chunks=((1, 1, 1, 1, 2), 3))
    parts = parts[da.from_array([False, False, True, True, False, False], chunks=((1, 1, 1, 1, 2),))]
    parts.compute_chunk_sizes()
    assert parts.chunks[0] == (0, 0, 1, 1, 0)
    found = wgmax.dask.reduce_max(parts, 0, **options).compute()
    assert_same(found, wgmax.reduce_max(x, 0, **options))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_segments(dtype, device):
    data = random_array(dtype, (50, 3, 4))
    ids = np.random.default_rng(2).integers(-2, 12, 50)
    ids[ids == 5] = 6
    if dtype.kind in "fV":
        data[ids == 3] = np.nan
        data[ids == 4] = -np.inf
    for seed, nan in itertools.product(range(3), ["propagate", "ignore"]):
        parts, chunked_ids = chunked(data, seed), da.from_array(ids, chunks=7)
        for empty in ["zero", "lowest", "negative_infinity"]:
            options = dict(empty=empty, nan=nan)
            for name in ["segment_max", "segment_min"]:
                find = getattr(wgmax.dask, name)
                found = find(parts, chunked_ids, 12, device=device, split_every=2, **options)
                expected = getattr(wgmax, name)(data, ids, 12, segments="unsorted", **options)
                assert found.shape == expected.shape
                assert_same(found.compute(), expected)
    found = wgmax.dask.segment_max(parts[:, 0, 0], chunked_ids, device=device)
    assert_same(found.compute(), wgmax.segment_max(data[:, 0, 0], ids, segments="unsorted"))
    options = dict(mode="drop", nan="ignore")
    found = wgmax.dask.segment_max(parts, ids, 3, **options)
    assert_same(found.compute(), wgmax.segment_max(data, ids, 3, segments="unsorted", **options))
    for nan in ["propagate", "ignore"]:
        found = wgmax.dask.segment_max(parts, ids, 3, nan=nan, device=device)
        with pytest.raises(wgmax.ArgumentError, match="but there are 3 segments"):
            found.compute()


POOLS = [
    dict(kernel_size=3),
    dict(kernel_size=(2, 5), stride=(3, 1), padding=(1, 2), dilation=(2, 1)),
    dict(kernel_size=3, stride=2, padding=1, ceil_mode=True),
    dict(kernel_size=2, stride=4, padding=((3, 6), (0, 9)), ceil_mode="all"),
    dict(kernel_size=(4, 1), stride=7, padding="same_upper"),
    dict(kernel_size=(4, 2), stride=(1, 3), padding="same_lower", dilation=(3, 1)),
    dict(kernel_size=1, stride=4, padding="same_upper", ceil_mode="all"),
    dict(kernel_size=(2, 3), stride=(6, 5), padding="same_lower", ceil_mode="all"),
    dict(kernel_size=2, padding=None, dilation=None),
    dict(kernel_size=2, stride=1, padding="valid", dilation=5),
    dict(kernel_size=30, stride=1, padding=20),
]


@pytest.mark.parametrize("pool", POOLS, ids=str)
@pytest.mark.parametrize("layout", ["NCX", "NXC"])
def test_pools(pool, layout):
    x = random_array(np.dtype("f4"), (2, 3, 17, 13))
    x = np.moveaxis(x, 1, -1).copy() if layout == "NXC" else x
    for seed, nan in itertools.product(range(3), ["propagate", "ignore"]):
        parts = chunked(x, seed)
        options = dict(layout=layout, nan=nan, **pool)
        expected = wgmax.max_pool(x, **options)
        found = wgmax.dask.max_pool(parts, **options)
        assert found.shape == expected.shape
        assert_same(found.compute(), expected)
        expected = wgmax.max_pool(x, return_indices=True, **options)
        found = wgmax.dask.max_pool(parts, return_indices=True, **options)
        assert_same(found[0].compute(), expected[0])
        assert_same(found[1].compute(), expected[1])
    found = wgmax.dask.min_pool(parts, layout=layout, **pool).compute()
    assert_same(found, wgmax.min_pool(x, layout=layout, **pool))


def test_unknown_sizes():
    """Axes whose sizes are not known may have no elements."""
    x = np.arange(6, dtype=np.float32)
    parts = da.from_array(x, chunks=2)
    for least in [3, 10]:
        found = wgmax.dask.reduce_max(parts[parts > least]).compute()
        assert_same(found, wgmax.reduce_max(x[x > least]))


def test_pools_of_other_ranks(device):
    for shape in [(2, 1, 40), (1, 2, 9, 8, 7)]:
        for dtype in ["i4", "f2"]:
            x = random_array(np.dtype(dtype), shape)
            options = dict(kernel_size=3, stride=2, padding=1, device=device)
            found = wgmax.dask.max_pool(chunked(x, 1), **options)
            assert_same(found.compute(), wgmax.max_pool(x, **options))


def test_errors_come_with_the_call():
    x = da.zeros((2, 3, 8), chunks=2, dtype="f4")
    for wrong in [
        lambda: wgmax.dask.reduce_max(x, 3),
        lambda: wgmax.dask.reduce_max(x, nan="no"),
        lambda: wgmax.dask.max_pool(x, 9),
        lambda: wgmax.dask.max_pool(x[x[:, 0, 0] > 0], 1),
        lambda: wgmax.dask.segment_max(x, np.zeros(3, int), 1),
        lambda: wgmax.dask.segment_max(x, np.zeros(2), 1),
        lambda: wgmax.dask.segment_max(x, np.zeros(2, int), -1),
        lambda: wgmax.dask.segment_max(x, np.zeros(2, int), 1, mode="clip"),
        lambda: wgmax.dask.reduce_max(x.astype("c8")),
        lambda: wgmax.dask.reduce_max(x[x > 0], empty="lowest"),
        lambda: wgmax.dask.reduce_max(x[x > 0], nan="ignore"),
        lambda: wgmax.dask.segment_max(x[x[:, 0, 0] > 0], np.zeros(2, int), 1),
    ]:
        with pytest.raises(wgmax.ArgumentError):
            wrong()
    for axis in [1.7, "1"]:
        with pytest.raises((TypeError, wgmax.ArgumentError)):
            wgmax.dask.reduce_max(x, axis)
    data = np.ones((2, 3), np.float32)
    assert wgmax.dask.segment_max(data, [0, 1], 2).compute().shape == (2, 3)


def test_results_of_one_graph():
    """A pooling of an array and one of a part of it, whose first piece has the same elements."""
    x = da.from_array(np.random.default_rng(0).permutation(40).reshape(1, 1, 4, 10).astype("f4"), chunks=(1, 1, 4, 5))
    part = x[..., :6]
    results = [found for each in (x, part) for found in wgmax.dask.max_pool(each, 2, return_indices=True)]
    for found, expected in zip(da.compute(*results), [each.compute() for each in results]):
        assert (found == expected).all()


@pytest.mark.parametrize("chunks", [(1, 0), (0, 1), (0, 1, 0)])
def test_chunks_without_elements(chunks):
    one = np.arange(3.0).reshape(3, 1)
    x, ids = da.from_array(one, chunks=((3,), chunks)), np.array([0, 1, 1])
    for options in [{}, {"return_indices": True}]:
        found = da.compute(wgmax.dask.segment_max(x, ids, 2, **options))[0]
        expected = wgmax.segment_max(one, ids, 2, **options)
        for a, b in zip(found, expected) if options else [(found, expected)]:
            assert a.shape == b.shape and (a == b).all()
    line, row = da.from_array(one[0], chunks=(chunks,)), np.array([0])
    found = wgmax.dask.scatter_max(line, da.from_array(row, chunks=(chunks,)), np.array([5.0])).compute()
    assert found.tolist() == [5]
    nothing = da.zeros((0,), chunks=((0,) * len(chunks),), dtype=int)
    assert wgmax.dask.scatter_max(da.arange(4, chunks=2), nothing, nothing).compute().tolist() == [0, 1, 2, 3]
    assert wgmax.dask.segment_max(nothing, nothing, 2).compute().tolist() == [0, 0]


def test_masks_are_refused():
    ids = np.ma.array([0, 1, 1], mask=[0, 0, 1])
    calls = [
        lambda: wgmax.dask.segment_max(da.arange(3, chunks=2), ids, 2),
        lambda: wgmax.dask.segment_max(da.arange(3, chunks=2), da.from_array(ids, chunks=2), 2).compute(),
        lambda: wgmax.dask.segment_max(da.arange(3, chunks=2), da.from_array(ids, chunks=3), segments="offsets"),
        lambda: wgmax.segment_max(np.arange(3), ids, 2),
        lambda: wgmax.onnx.ReduceMax(np.ones((2, 3)), ids[:2]),
        lambda: wgmax.openvino.ReduceMax(np.ones((2, 3)), ids[:2]),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="masked"):
            call()
