"""The operators against their definitions in numpy, on every type and device."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from conftest import DTYPES, assert_same, is_float, random_array

import wgmax


def key(element):
    """The key that elements are ordered by. NaN is the largest."""
    value = float(element) if is_float(element.dtype) else int(element)
    return (value != value, 0 if value != value else value)


def extreme(elements, low=False, nan="propagate"):
    """The maximum of elements in their order and its position: the first of equal ones."""
    best = None
    for at, element in enumerate(elements):
        is_nan, value = key(element)
        if is_nan and nan == "ignore":
            continue
        rank = (is_nan, -value if low else value)
        if best is None or rank > best[0]:
            best = (rank, at)
    if best is None:
        return np.asarray(np.nan, elements.dtype), 0
    found = elements[best[1]]
    return np.asarray(np.nan, elements.dtype) if best[0][0] else found, best[1]


def expected_reduce(x, axis, low=False, nan="propagate"):
    """Maxima along the last axis, or along all, and their positions."""
    rows = x.reshape(1, -1) if axis is None else x.reshape(-1, x.shape[-1])
    pairs = [extreme(row, low, nan) for row in rows]
    shape = () if axis is None else x.shape[:-1]
    values = np.array([value for value, _ in pairs], x.dtype).reshape(shape)
    return values, np.array([at for _, at in pairs], np.int64).reshape(shape)


def same_value(found, expected):
    """As compare, with zeros of both signs equal: definitions in this file do not tell them apart."""
    found, expected = np.asarray(found), np.asarray(expected)
    report = wgmax.compare(found, expected, values=True)
    assert report.equal, str(report)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("nan", ["propagate", "ignore"])
def test_reductions(dtype, nan, device):
    x = random_array(dtype, (7, 5, 33), special=is_float(dtype))
    for axis, low in itertools.product([None, -1], [False, True]):
        reduce = wgmax.reduce_min if low else wgmax.reduce_max
        arg = wgmax.arg_min if low else wgmax.arg_max
        values, positions = expected_reduce(x, axis, low, nan)
        found = reduce(x, axis, return_indices=True, nan=nan, device=device)
        same_value(found[0], values)
        assert_same(found[1], positions)
        same_value(reduce(x, axis, nan=nan, device=device), values)
        assert_same(arg(x, axis, nan=nan, device=device), positions)


def test_signed_zeros(device):
    x = np.array([[-0.0, 0.0], [0.0, -0.0]], np.float32)
    assert_same(wgmax.reduce_max(x, 1, device=device), np.array([0.0, 0.0], np.float32))
    assert_same(wgmax.reduce_min(x, 1, device=device), np.array([-0.0, -0.0], np.float32))


def test_axes(device):
    x = random_array(np.dtype("i4"), (3, 1, 4, 5))
    for axis in [0, -1, 2, (0, 2), (1, -1), (), (0, 1, 2, 3), np.int64(1), [3, 0]]:
        for keepdims in [False, True]:
            axes = tuple(axis) if isinstance(axis, list) else axis
            expected = np.max(x, axes, keepdims=keepdims)
            found = wgmax.reduce_max(x, axis, keepdims=keepdims, device=device)
            assert_same(found, expected)
    assert isinstance(wgmax.reduce_max(x), np.int32)
    assert wgmax.reduce_max(np.float64(2.5)) == 2.5
    assert wgmax.reduce_max([[1, 2], [4, 3]], 0).tolist() == [4, 3]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_no_elements(dtype, device):
    x = np.zeros((2, 0, 3), dtype)
    for empty in ["negative_infinity", "lowest"]:
        if dtype.kind == "b":
            lowest, highest = False, True
        elif not is_float(dtype):
            lowest, highest = np.iinfo(dtype).min, np.iinfo(dtype).max
        elif empty == "lowest":
            lowest, highest = ml_dtypes.finfo(dtype).min, ml_dtypes.finfo(dtype).max
        else:
            lowest, highest = -np.inf, np.inf
        full = np.full((2, 3), lowest, dtype)
        assert_same(wgmax.reduce_max(x, 1, empty=empty, device=device), full)
        full = np.full((2, 3), highest, dtype)
        assert_same(wgmax.reduce_min(x, 1, empty=empty, device=device), full)
    assert wgmax.reduce_max(x, 0, device=device).shape == (0, 3)
    with pytest.raises(wgmax.ArgumentError, match="no position"):
        wgmax.arg_max(x, 1)


def pool_expected(x, kernel, stride, begin, end, dilation, low=False, nan="propagate"):
    """Windows of a plane one after the other, floor rounding; values and plane indices."""
    batch, channels, *spatial = x.shape
    extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    sizes = [
        (size + b + e - reach) // s + 1
        for size, b, e, reach, s in zip(spatial, begin, end, extent, stride)
    ]
    values = np.empty((batch, channels, *sizes), x.dtype)
    indices = np.zeros((batch, channels, *sizes), np.int64)
    empty = (np.inf if low else -np.inf) if is_float(x.dtype) else None
    for place in np.ndindex(*values.shape):
        taps = []
        for tap in np.ndindex(*kernel):
            at = [
                o * s - b + t * d
                for o, s, b, t, d in zip(place[2:], stride, begin, tap, dilation)
            ]
            if all(0 <= a < size for a, size in zip(at, spatial)):
                taps.append(tuple(at))
        if not taps:
            info = None if is_float(x.dtype) else np.iinfo(x.dtype)
            values[place] = empty if info is None else (info.max if low else info.min)
            continue
        elements = np.array([x[place[:2] + tap] for tap in taps], x.dtype)
        values[place], at = extreme(elements, low, nan)
        indices[place] = np.ravel_multi_index(taps[at], spatial)
    return values, indices


POOLS = [
    dict(kernel=(3,), stride=(2,), begin=(1,), end=(2,), dilation=(1,)),
    dict(kernel=(2,), stride=(1,), begin=(4,), end=(0,), dilation=(3,)),
    dict(kernel=(2, 3), stride=(2, 1), begin=(0, 1), end=(1, 3), dilation=(1, 2)),
    dict(kernel=(2, 1, 2), stride=(1, 2, 2), begin=(1, 0, 0), end=(0, 0, 1), dilation=(1, 1, 1)),
]


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.kind != "b"], ids=str)
@pytest.mark.parametrize("pool", POOLS, ids=lambda pool: str(pool["kernel"]))
def test_pools(dtype, pool, device):
    x = random_array(dtype, (2, 3, 7, 6, 5)[: 2 + len(pool["kernel"])])
    padding = list(zip(pool["begin"], pool["end"]))
    for low, nan in itertools.product([False, True], ["propagate", "ignore"]):
        values, indices = pool_expected(x, low=low, nan=nan, **pool)
        find = wgmax.min_pool if low else wgmax.max_pool
        options = dict(dilation=pool["dilation"], nan=nan, device=device)
        found = find(x, pool["kernel"], pool["stride"], padding, return_indices=True, **options)
        same_value(found[0], values)
        assert_same(found[1], indices)
        # Without indices +0 counts as more than -0; with them the first of both is the maximum.
        same_value(find(x, pool["kernel"], pool["stride"], padding, **options), found[0])


def test_pool_arguments(device):
    x = random_array(np.dtype("f4"), (2, 3, 9, 8))
    same = wgmax.max_pool(x, 3, stride=1, padding="same_upper", device=device)
    assert_same(same, wgmax.max_pool(x, (3, 3), (1, 1), (1, 1)))
    assert wgmax.max_pool(x, 3, padding="valid", device=device).shape == (2, 3, 3, 2)
    assert wgmax.max_pool(x, 2, device=device).shape == (2, 3, 4, 4)
    assert wgmax.max_pool(x, 2, ceil_mode=True, device=device).shape == (2, 3, 5, 4)
    assert wgmax.max_pool(x, 2, 3, 1, ceil_mode="all", device=device).shape == (2, 3, 4, 4)
    last = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    found = wgmax.max_pool(last, 3, layout="NXC", device=device)
    assert_same(np.moveaxis(found, -1, 1), wgmax.max_pool(x, 3))
    _, plane = wgmax.max_pool(x, 3, return_indices=True, index_type=np.int32, device=device)
    assert plane.dtype == np.int32
    _, whole = wgmax.max_pool(x, 3, return_indices=True, index_axis=0, device=device)
    assert_same(whole, plane + np.arange(6).reshape(2, 3, 1, 1) * 72)
    order = dict(return_indices=True, index_order="column_major", device=device)
    _, turned = wgmax.max_pool(x[:1, :1], 3, **order)
    assert_same(turned, plane[:1, :1] % 8 * 9 + plane[:1, :1].astype(np.int64) // 8)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_segments(dtype, device):
    data = random_array(dtype, (40, 3))
    ids = np.random.default_rng(1).integers(-1, 9, 40)
    for low, nan in itertools.product([False, True], ["propagate", "ignore"]):
        find = wgmax.segment_min if low else wgmax.segment_max
        expected = np.zeros((10, 3), dtype)
        rows = np.zeros((10, 3), np.int64)
        for segment, column in np.ndindex(10, 3):
            own = np.flatnonzero(ids == segment)
            if len(own):
                expected[segment, column], at = extreme(data[own, column], low, nan)
                rows[segment, column] = own[at]
        options = dict(segments="unsorted", nan=nan, device=device)
        found = find(data, ids, 10, return_indices=True, **options)
        same_value(found[0], expected)
        present = np.isin(np.arange(10), ids)
        assert_same(found[1][present], rows[present])
        order = np.argsort(ids, kind="stable")
        order = order[ids[order] >= 0]
        alone = find(data, ids, 10, **options)
        same_value(alone, expected)
        assert_same(find(data[order], ids[order], 10, nan=nan, device=device), alone)
        offsets = np.searchsorted(ids[order], np.arange(11))
        offset_options = dict(segments="offsets", nan=nan, device=device)
        assert_same(find(data[order], offsets, **offset_options), alone)


def test_ids_beyond_the_segments(device):
    """Such ids are errors, unless their rows are dropped, wherever data and ids are."""
    on = wgmax.Device(device)
    x = np.array([1, 4, 2, 8], np.float32)
    places = [lambda a: a, lambda a: wgmax.Tensor(a, on)]
    wrong = [
        ("sorted", [0, 1, 1, 5], r"segment_ids at position 3 is 5, but there are 5 segments"),
        ("unsorted", [0, 7, 1, 5], r"segment_ids at position 1 is 7, but there are 5 segments"),
        ("unsorted", [-1, 0, 3, 9], r"position 3 is 9"),
    ]
    for data, ids in itertools.product(places, places):
        for dtype, (kind, values, message) in itertools.product(["i1", "u2", "i4", "i8", "u8"], wrong):
            given = data(x), ids(np.array(values, "i8").astype(dtype))
            if dtype[0] == "u" and -1 in values:
                # -1 becomes a huge number, which is the first that is too large.
                message = "position 0 is"
            options = dict(segments=kind)
            if data is ids is places[0]:
                options["device"] = device
            for find in [wgmax.segment_max, wgmax.segment_min]:
                with pytest.raises(wgmax.ArgumentError, match=message) as raised:
                    find(*given, 5, **options)
                assert raised.value.code == "SegmentOutOfRange"
                dropped = np.asarray(find(*given, 5, mode="drop", **options))
                kept = np.zeros(5, np.float32)
                for id, value in zip(values, x.tolist()):
                    if 0 <= id < 5:
                        own = [v for i, v in zip(values, x.tolist()) if i == id]
                        kept[id] = max(own) if find is wgmax.segment_max else min(own)
                assert_same(dropped, kept)
            gradient = np.ones(5, np.float32)
            with pytest.raises(wgmax.ArgumentError, match=message):
                wgmax.segment_max_backward(*given, gradient, **options)
            found = np.asarray(wgmax.segment_max_backward(*given, gradient, mode="drop", **options))
            assert found.sum() == len({id for id in values if 0 <= id < 5})
        # Valid ids are accepted: negative ones in any order, the last segment, and offsets.
        options = dict(device=device) if data is ids is places[0] else {}
        given = lambda values: (data(x), ids(np.array(values)))
        find = lambda values, count, kind: wgmax.segment_max(*given(values), count, segments=kind, **options)
        assert np.asarray(find([-1, 4, -9, 0], 5, "unsorted")).tolist() == [8, 0, 0, 0, 4]
        assert np.asarray(find([0, 0, 4, 4], 5, "sorted")).tolist() == [4, 0, 0, 0, 8]
        assert np.asarray(find([1, 2, 3], None, "offsets")).tolist() == [4, 2]
        wgmax.segment_max_backward(*given([1, 2, 3]), x[:2], segments="offsets", **options)
        for values, count, kind in [
            ([0, 2, 1, 1], 5, "sorted"), ([-1, 0, 1, 1], 5, "sorted"), ([0, 3, 2], None, "offsets"),
            ([0, 3, 5], None, "offsets"), ([0, 0, 0, 0], -1, "sorted"), ([0, 0], 2, "unsorted"),
            ([0.5] * 4, 1, "unsorted"), ([[0, 0, 0, 0]], 1, "unsorted"),
        ]:  # fmt: skip
            with pytest.raises(wgmax.ArgumentError):
                find(values, count, kind)
    for none in [x[:0], np.zeros((0, 3), np.float32)]:
        found = wgmax.segment_max(wgmax.Tensor(none, on), wgmax.Tensor(np.zeros(0, int), on), 2)
        assert found.shape == (2, *none.shape[1:])
    with pytest.raises(wgmax.ArgumentError, match="scalar"):
        wgmax.segment_max(wgmax.Tensor(x[0], on), wgmax.Tensor(np.zeros(1, int), on), 2)
    with pytest.raises(wgmax.ArgumentError, match="'raise', 'drop'"):
        wgmax.segment_max(x, [0, 0, 0, 0], mode="clip")
    # OpenVINO leaves such rows out.
    found = wgmax.openvino.SegmentMax(x, [0, 1, 1, 5], 2, fill_mode="ZERO", device=device)
    assert found.tolist() == [1, 4]


def test_indices_change_the_sign_of_zeros_alone(device):
    for zeros, negative in [([0.0, -0.0], [False, False]), ([-0.0, 0.0], [False, True])]:
        zeros = np.array(zeros, np.float32)
        for find in [
            lambda **k: wgmax.reduce_max(zeros, device=device, **k),
            lambda **k: wgmax.max_pool(zeros[None, None], 2, device=device, **k),
            lambda **k: wgmax.segment_max(zeros, [0, 0], device=device, **k),
        ]:
            found = [find(), find(return_indices=True)[0]]
            assert [bool(np.signbit(each).all()) for each in found] == negative


GRADIENTS = [dtype for dtype in DTYPES if is_float(dtype)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_windows_that_share_out_axes(dtype, device):
    x = random_array(dtype, (2, 3, 11, 5), special=False)
    spans = lambda size, count: [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
    for low in [False, True]:
        pool = wgmax.adaptive_min_pool if low else wgmax.adaptive_max_pool
        found, at = pool(x, (4, 7), return_indices=True, device=device)
        assert found.shape == at.shape == (2, 3, 4, 7)
        for (i, (top, bottom)), (j, (left, right)) in itertools.product(
            enumerate(spans(11, 4)), enumerate(spans(5, 7))
        ):
            window = np.ascontiguousarray(x[:, :, top:bottom, left:right])
            reduce = wgmax.reduce_min if low else wgmax.reduce_max
            same_value(found[:, :, i, j], reduce(window, (2, 3)))
            _, first = reduce(window, (2, 3), return_indices=True)
            rows, columns = np.divmod(first, right - left)
            assert_same(at[:, :, i, j], (rows + top) * 5 + columns + left)
    assert wgmax.adaptive_max_pool(x, (None, 2), device=device).shape == (2, 3, 11, 2)
    assert wgmax.adaptive_max_pool(x, 0, device=device).shape == (2, 3, 0, 0)
    last = wgmax.adaptive_max_pool(np.moveaxis(x, 1, -1), (None, 2), layout="NXC", device=device)
    assert_same(np.moveaxis(last, -1, 1), wgmax.adaptive_max_pool(x, (11, 2)))
    single = wgmax.openvino.AdaptiveMaxPool
    if dtype in GRADIENTS:
        assert_same(single(x, [4, 7], outputs=2, device=device)[1], wgmax.adaptive_max_pool(
            x, (4, 7), nan="ignore", return_indices=True)[1])


@pytest.mark.parametrize("dtype", GRADIENTS, ids=str)
def test_gradients(dtype, device):
    on = dict(device=device)
    x = random_array(dtype, (2, 3, 6, 5))
    for name, low in [("max", False), ("min", True)]:
        function = lambda operator, end="": getattr(wgmax, f"{operator}_{name}{end}")
        pool = wgmax.min_pool if low else wgmax.max_pool
        pool_backward = wgmax.min_pool_backward if low else wgmax.max_pool_backward
        # Reductions.
        values, at = function("reduce")(x, 3, return_indices=True)
        gradient = random_array(dtype, values.shape, 3, special=False)
        expected = np.zeros_like(x)
        np.put_along_axis(expected, at[..., None], gradient[..., None], 3)
        assert_same(function("reduce", "_backward")(x, gradient, 3, **on), expected)
        given = function("reduce", "_backward")(at, gradient, 3, shape=x.shape, **on)
        assert_same(given, expected)
        # Poolings: sums of small integers are exact.
        values, at = pool(x, 3, 2, 1, return_indices=True)
        gradient = random_array(dtype, values.shape, 4, special=False)
        expected = np.zeros((6, 30), np.float64)
        planes = gradient.reshape(6, -1).astype(np.float64)
        for plane in range(6):
            np.add.at(expected[plane], at.reshape(6, -1)[plane], planes[plane])
        expected = expected.reshape(x.shape).astype(dtype)
        same_value(pool_backward(x, gradient, 3, 2, 1, **on), expected)
        given = pool_backward(at, gradient, 3, 2, 1, shape=x.shape, **on)
        same_value(given, expected)
        pool, back = function("adaptive", "_pool"), function("adaptive", "_pool_backward")
        values, at = pool(x, (4, 3), return_indices=True)
        gradient = random_array(dtype, values.shape, 6, special=False)
        sums = np.zeros((6, 30), np.float64)
        for plane in range(6):
            np.add.at(sums[plane], at.reshape(6, -1)[plane], gradient.reshape(6, -1)[plane].astype("f8"))
        expected = sums.reshape(x.shape).astype(dtype)
        same_value(back(x, gradient, (4, 3), **on), expected)
        same_value(back(at, gradient, (4, 3), shape=x.shape, **on), expected)
        # Segments.
        rows, ids = x.reshape(12, 15), np.arange(12) // 4
        values, at = function("segment")(rows, ids, return_indices=True)
        gradient = random_array(dtype, values.shape, 5, special=False)
        expected = np.zeros_like(rows)
        np.put_along_axis(expected, at, gradient, 0)
        assert_same(function("segment", "_backward")(rows, ids, gradient, **on), expected)
        given = function("segment", "_backward")(at, None, gradient, shape=rows.shape, **on)
        assert_same(given, expected)


def test_index_axes_without_a_batch(device):
    """The first axis is that of the channels, from the front and from the back, in both orders."""
    x = random_array(np.dtype("f4"), (3, 5, 6))
    for axis, order in itertools.product([0, -3], ["row_major", "column_major"]):
        options = dict(return_indices=True, index_axis=axis, index_order=order, device=device)
        own = wgmax.max_pool2d(x, 2, **options)
        for a, b in zip(own, wgmax.max_pool(x[None], 2, **{**options, "index_axis": 0})):
            assert_same(a, b[0])


def test_unpool(device):
    x = random_array(np.dtype("f4"), (2, 2, 6, 6), special=False)
    values, indices = wgmax.max_pool(x, 2, return_indices=True, index_axis=0)
    expected = np.zeros_like(x)
    expected.reshape(-1)[indices.reshape(-1)] = values.reshape(-1)
    assert_same(wgmax.max_unpool(values, indices, x.shape, device=device), expected)
    with pytest.raises(wgmax.ArgumentError, match="is out of range: there are 4 elements"):
        wgmax.max_unpool(values, indices, (1, 1, 2, 2), device=device)


def test_arrays_beside_tensors_are_checked(device):
    """Ids and indices that are arrays, of data that is on a device."""
    on = wgmax.Device(device)
    values = wgmax.Tensor(np.ones((1, 1, 2), np.float32), on)
    for indices in [[[[0, -5]]], [[[2**40, 1]]]]:
        with pytest.raises(wgmax.ArgumentError, match="is out of range: there are 4 elements"):
            wgmax.max_unpool(values, np.array(indices), (1, 1, 4))
    data = wgmax.Tensor(np.ones(4, np.float32), on)
    gradient = np.ones(3, np.float32)
    for ids in [[2, 0, 1, 2], [-1, 0, 1, 2]]:
        with pytest.raises(wgmax.ArgumentError):
            wgmax.segment_max_backward(data, np.array(ids), gradient)
    found = wgmax.segment_max_backward(data, np.array([0, 0, 1, 2]), gradient)
    assert_same(found.numpy(), np.array([1, 0, 1, 1], np.float32))


X = np.zeros((2, 3, 4), np.float32)
WRONG = [
    (lambda: wgmax.reduce_max(X, 3), IndexError, "axis 3 is out of bounds"),
    (lambda: wgmax.reduce_max(X, (0, -3)), ValueError, "given twice"),
    (lambda: wgmax.reduce_max(X, "x"), ValueError, "axis must be"),
    (lambda: wgmax.reduce_max(X, 1.5), ValueError, "axis must be"),
    (lambda: wgmax.reduce_max(X, True), ValueError, "axis must be"),
    (lambda: wgmax.reduce_max(X, 2**70), ValueError, "axis must be"),
    (lambda: wgmax.reduce_max(X, nan="no"), ValueError, "one of 'propagate', 'ignore'"),
    (lambda: wgmax.reduce_max(X, nan=3), ValueError, "one of 'propagate', 'ignore'"),
    (lambda: wgmax.reduce_max(X, keepdims="x"), ValueError, "keepdims must be True or False"),
    (lambda: wgmax.reduce_max(X, keep=1), TypeError, "unexpected keyword argument 'keep'"),
    (lambda: wgmax.reduce_max(X, index_type="f4", return_indices=True), ValueError, "index_type"),
    (lambda: wgmax.reduce_max(), TypeError, "missing"),
    (lambda: wgmax.reduce_max(X, device=3), TypeError, "device must be"),
    (lambda: wgmax.reduce_max(X, device="no such"), RuntimeError, "no GPU adapter"),
    (lambda: wgmax.reduce_max(X, device=""), RuntimeError, "no GPU adapter has a blank name"),
    (lambda: wgmax.verify("cpu", cases=0), ValueError, "cases must be 1 or more"),
    (lambda: wgmax.reduce_max(X.astype("c8")), ValueError, "none of the types"),
    (lambda: wgmax.reduce_max(X.astype("g")), ValueError, "none of the types"),
    (lambda: wgmax.reduce_max(np.array(["a"])), ValueError, "none of the types"),
    (lambda: wgmax.reduce_max([object()]), ValueError, "none of the types"),
    (lambda: wgmax.reduce_max(np.zeros(3, "M8[s]")), ValueError, "none of the types"),
    (lambda: wgmax.reduce_max(np.zeros(3, ml_dtypes.float8_e5m2)), ValueError, "none of the types"),
    (lambda: wgmax.reduce_max(np.ma.masked_array(X, X > 1)), TypeError, "masked"),
    (lambda: wgmax.reduce_max(np.array([0, 2], "u1").view("?")), ValueError, "only 0 and 1 are bools"),
    (lambda: wgmax.max_pool(X, 5), ValueError, "the window covers 5"),
    (lambda: wgmax.max_pool(X, (2, 2)), ValueError, "kernel"),
    (lambda: wgmax.max_pool(X, 0), ValueError, "kernel"),
    (lambda: wgmax.max_pool(X, 2, 0), ValueError, "strides"),
    (lambda: wgmax.adaptive_max_pool(X, (2, 2)), ValueError, "output_sizes"),
    (lambda: wgmax.adaptive_max_pool(X, -1), ValueError, "attribute output_size must"),
    (lambda: wgmax.adaptive_max_pool(X, "2"), ValueError, "output_size must be"),
    (lambda: wgmax.adaptive_max_pool(X[..., :0], 2), ValueError, "no elements"),
    (lambda: wgmax.max_pool(X, 2, 1, -1), ValueError, "attribute padding must be 0 or more"),
    (lambda: wgmax.max_pool(X, 2, 1, "no"), ValueError, "padding must be"),
    (lambda: wgmax.max_pool(X, 2, 1, [(1, 2, 3)]), ValueError, "padding must be"),
    (lambda: wgmax.max_pool(X, 2, ceil_mode="no"), ValueError, "ceil_mode must be"),
    (lambda: wgmax.max_pool(X[0], 2), ValueError, "pooling needs batch"),
    (lambda: wgmax.max_pool(np.float32(1), 2), ValueError, "pooling needs batch"),
    (lambda: wgmax.max_pool(X, 2**62, 2**62, 2**62), RuntimeError, "the limit"),
    (lambda: wgmax.segment_max(X, [1, 0]), ValueError, "must ascend"),
    (lambda: wgmax.segment_max(X, [0]), ValueError, "length of 1, but needs 2"),
    (lambda: wgmax.segment_max(X, [0.0, 1.0]), ValueError, "f64"),
    (lambda: wgmax.segment_max(np.float32(1), [0]), ValueError, "scalar"),
    (lambda: wgmax.segment_max(X, [0, 2**40]), ValueError, "too many segments"),
    (lambda: wgmax.segment_max(X, [0, 1], -1), ValueError, "num_segments"),
    (lambda: wgmax.max_pool_backward(X, X, 2), ValueError, "given: f32"),
    (lambda: wgmax.max_pool_backward(X, X, 2, shape=(-1,)), ValueError, "shape must be"),
    (lambda: wgmax.compare(X, X[0]), ValueError, "cannot compare"),
    (lambda: wgmax.onnx.MaxPool(X, kernel_shape=[2], opset=99), ValueError, "opset 99"),
    (lambda: wgmax.onnx.MaxPool(X, kernel_shape="2"), ValueError, "kernel_shape"),
    (lambda: wgmax.onnx.ReduceMax(X, [7]), ValueError, "axis 7"),
    (lambda: wgmax.openvino.SegmentMax(X, [0, 1], fill_mode="no"), ValueError, "fill_mode"),
    (lambda: wgmax.openvino.SegmentMax(X, [0.9, 1.2], fill_mode="ZERO"), ValueError, "f64"),
    (lambda: wgmax.openvino.ReduceMax(X, [1.7]), ValueError, "f64"),
    (lambda: wgmax.onnx.ReduceMax(X, [2**64 - 1]), ValueError, "u64"),
    (lambda: wgmax.max_pool2d(X, 1, return_indices=True, index_axis=-4), IndexError, "axis -4"),
    (lambda: wgmax.onednn.ReduceMax(X), ValueError, "neither was given"),
    (lambda: wgmax._wgmax.node("x", "y", 1, {}, []), ValueError, "not a dialect"),
    (lambda: wgmax._wgmax.node("onnx", "ReduceMax", 18, {}, []), ValueError, "input"),
    (lambda: wgmax._wgmax.node("onnx", "ReduceMax", 18, {}, [None]), ValueError, "input"),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong[2])
def test_errors(wrong):
    call, kind, message = wrong
    with pytest.raises(kind, match=message) as error:
        call()
    assert type(error.value).__name__ != "PanicException"


def test_codes():
    with pytest.raises(wgmax.ArgumentError) as error:
        wgmax.reduce_max(X, 9)
    assert error.value.code == "AxisOutOfRange"
    with pytest.raises(wgmax.DeviceError) as error:
        wgmax.Device("no such adapter")
    assert error.value.code == "NoAdapter"


def test_dialects(device):
    x = random_array(np.dtype("f4"), (1, 2, 6, 6))
    on = dict(device=device)
    ignoring = wgmax.max_pool(x, 3, 2, 1, nan="ignore")
    assert_same(wgmax.onnx.MaxPool(x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, **on), ignoring)
    values, indices = wgmax.onnx.MaxPool(x, kernel_shape=[2, 2], outputs=2, **on)
    own = wgmax.max_pool(x, 2, 1, nan="ignore", return_indices=True, index_axis=0)
    assert_same(values, own[0])
    assert_same(indices, own[1])
    assert_same(wgmax.onnx.ReduceMax(x, axes=[1], opset=13, **on), wgmax.reduce_max(x, 1, keepdims=True))
    assert_same(wgmax.onnx.ReduceMin(x, **on), wgmax.reduce_min(x, keepdims=True))
    assert_same(wgmax.onnx.ArgMax(x, axis=2, keepdims=0, **on), wgmax.arg_max(x, 2))
    assert_same(wgmax.onnx.ArgMin(x, axis=2, select_last_index=1, **on),
                wgmax.arg_min(x, 2, keepdims=True, select_last=True))
    assert wgmax.onnx.GlobalMaxPool(x, **on).shape == (1, 2, 1, 1)
    pooled = wgmax.max_pool(x, 2, return_indices=True, index_axis=0)
    unpooled = wgmax.onnx.MaxUnpool(*pooled, kernel_shape=[2, 2], strides=[2, 2], **on)
    assert_same(unpooled, wgmax.max_unpool(*pooled, x.shape))
    assert_same(wgmax.openvino.ReduceMax(x, -1, keep_dims=True, nan="propagate", **on),
                wgmax.reduce_max(x, -1, keepdims=True))
    pads = dict(strides=[2, 2], pads_begin=[1, 1], pads_end=[1, 1])
    assert_same(wgmax.openvino.MaxPool(x, kernel=[3, 3], **pads, version=1, **on), ignoring)
    assert_same(wgmax.onednn.MaxPool(x, kernel=[3, 3], data_format="NCX", **pads, **on), ignoring)
    segments = wgmax.openvino.SegmentMax(x[0], [0, 2], 4, fill_mode="LOWEST", **on)
    assert segments.shape == (4, 6, 6)
    gradient = np.ones_like(ignoring)
    assert_same(
        wgmax.onednn.MaxPoolBackward(x, gradient, kernel=[3, 3], data_format="NCX", **pads, **on),
        wgmax.max_pool_backward(x, gradient, 3, 2, 1, nan="ignore"),
    )


def test_compare_and_verify(device):
    a = np.array([[1.0, 2], [3, 4]], np.float32)
    b = a.copy()
    b[1, 0] = np.nextafter(np.float32(3), np.float32(4))
    report = wgmax.compare(a, b)
    assert not report and report.differing == 1 and report.total == 4 and report.max_ulp == 1
    assert report.first[0]["coordinates"] == [1, 0]
    assert "1 of 4 elements differs" in str(report)
    zeros = np.array([0.0, np.nan]), np.array([-0.0, -np.nan])
    assert wgmax.compare(*zeros, values=True) and not wgmax.compare(*zeros)
    found = wgmax.verify(device, cases=39)
    assert found, (found.differing, found.failed)
    assert found.cases == 39
