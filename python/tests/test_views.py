"""Every function on arrays with any layout in memory, against the same on contiguous copies."""

import ml_dtypes
import numpy as np
import pytest
from conftest import DTYPES, assert_same, random_array

import wgmax
import wgmax.dask

FLOATS = [np.dtype(each) for each in ["f4", "f2", "f8", ml_dtypes.bfloat16]]


def laid_out(x, random, repeats=True):
    """The elements of `x` in memory, with other elements between them."""
    if repeats and x.ndim and random.random() < 0.2:
        # An axis that repeats one element has stride 0.
        axis = random.integers(x.ndim)
        repeated = laid_out(x[(slice(None),) * axis + (slice(1),)], random, repeats)
        return np.broadcast_to(repeated, x.shape) if x.shape[axis] else repeated
    kind = random.choice(["elements", "elements", "elements", "bytes", "swapped"])
    dtype = x.dtype
    if kind == "swapped" and dtype.kind in "fiu":
        dtype = dtype.newbyteorder()
    item = dtype.itemsize
    unit = 1 if kind == "bytes" else item
    strides, before, end = [0] * x.ndim, 0, item
    for axis in random.permutation(x.ndim):
        size = x.shape[axis]
        if size < 2:
            # Such an axis has no steps, so its stride may be anything.
            strides[axis] = int(random.integers(-99, 99))
            continue
        stride = -(-end // unit) * unit
        stride = int(random.choice([stride, stride, 2 * stride, stride + 3 * unit]))
        strides[axis] = stride * int(random.choice([1, -1]))
        before += stride * (size - 1) if strides[axis] < 0 else 0
        end += stride * (size - 1)
    start = int(random.choice([0, 8, unit * random.integers(9)]))
    memory = random.integers(0, random.choice([2, 256]), start + end + 8, np.uint8)
    view = np.ndarray(x.shape, dtype, memory, start + before, strides)
    view[...] = x
    if random.random() < 0.2:
        view.flags.writeable = False
    return view


def copied(x):
    """The elements one after the other, in the order of bytes of this machine."""
    return np.array(x, x.dtype.newbyteorder("=") if x.dtype.kind in "fiu" else x.dtype, order="C", subok=False)


def sizes(random, rank, most=6):
    return tuple(int(size) for size in random.choice([0, 1, 1, 2, 3, 4, 5, most], rank))


def reductions(random):
    dtype = random.choice(DTYPES)
    rank = int(random.choice([0, 1, 1, 1, 2, 3, 4, 5]))
    x = random_array(dtype, sizes(random, rank, 100 if rank == 1 else 6), int(random.integers(1000)))
    axes = tuple(axis for axis in range(x.ndim) if random.random() < 0.6)
    low = random.random() < 0.3
    name = str(random.choice(["reduce", "reduce", "arg", "indices"]))
    if name == "arg":
        function = wgmax.arg_min if low else wgmax.arg_max
        options = {}
    else:
        function = wgmax.reduce_min if low else wgmax.reduce_max
        options = dict(return_indices=name == "indices", keepdims=random.random() < 0.5)
    if random.random() < 0.3 and x.size:
        axes = None
    if not all(x.shape[axis] for axis in (range(x.ndim) if axes is None else axes)):
        function, options = wgmax.reduce_max, {}
    return function, [x, axes], options


def pools(random):
    rank = int(random.integers(1, 4))
    dtype = random.choice([each for each in DTYPES if each.kind != "b"])
    x = random_array(dtype, (*sizes(random, 2, 3), *random.integers(3, 8, rank)), int(random.integers(1000)))
    layout = "NCX"
    if random.random() < 0.4:
        x, layout = np.moveaxis(x, 1, -1), "NXC"
    options = dict(layout=layout, return_indices=random.random() < 0.5)
    return wgmax.max_pool, [x, int(random.integers(1, 4)), int(random.integers(1, 3)), 1], options


def segments(random):
    dtype = random.choice(DTYPES)
    x = random_array(dtype, sizes(random, random.integers(1, 4), 40), int(random.integers(1000)))
    ids = random.integers(0, 5, len(x)).astype(random.choice(["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]))
    kind = str(random.choice(["sorted", "unsorted", "offsets"]))
    if kind == "sorted":
        ids = np.sort(ids)
    if kind == "offsets":
        ids = np.sort(random.integers(0, len(x) + 1, 4)).astype("i4")
    options = dict(segments=kind, return_indices=random.random() < 0.5)
    count = None if kind == "offsets" else 5
    return wgmax.segment_max, [x, ids, count], options


def gradients(random):
    kind = random.choice(["reduce", "pool", "segment", "unpool"])
    dtype = random.choice(FLOATS)
    seed = int(random.integers(1000))
    from_indices = random.random() < 0.5
    if kind == "segment":
        x = random_array(dtype, (int(random.integers(0, 9)), *sizes(random, random.integers(3))), seed)
        ids = np.sort(random.integers(0, 4, len(x)))
        values, at = wgmax.segment_max(x, ids, 4, return_indices=True)
        gradient = random_array(dtype, values.shape, seed + 1, special=False)
        if from_indices:
            return wgmax.segment_max_backward, [at, None, gradient], dict(shape=x.shape)
        return wgmax.segment_max_backward, [x, ids, gradient], {}
    if kind == "reduce":
        shape = [max(size, 1) for size in sizes(random, random.integers(5))]
        x = random_array(dtype, shape, seed)
        axes = tuple(axis for axis in range(x.ndim) if random.random() < 0.6)
        values, at = wgmax.reduce_max(x, axes, return_indices=True)
        gradient = random_array(dtype, values.shape, seed + 1, special=False)
        if from_indices:
            return wgmax.reduce_max_backward, [np.asarray(at), gradient, axes], dict(shape=x.shape)
        return wgmax.reduce_max_backward, [x, gradient, axes], {}
    x = random_array(dtype, (2, 3, *random.integers(4, 8, random.integers(1, 4))), seed, special=False)
    if kind == "unpool":
        values, at = wgmax.max_pool(x, 2, return_indices=True, index_axis=0)
        return wgmax.max_unpool, [values, at, x.shape], {}
    values, at = wgmax.max_pool(x, 3, 2, 1, return_indices=True)
    gradient = random_array(dtype, values.shape, seed + 1, special=False)
    if from_indices:
        return wgmax.max_pool_backward, [at, gradient, 3, 2, 1], dict(shape=x.shape)
    return wgmax.max_pool_backward, [x, gradient, 3, 2, 1], {}


def nodes(random):
    """Operators of the specifications, whose inputs may be arrays that hold parameters."""
    x = random_array(np.dtype("f4"), (2, 3, 6, 4), int(random.integers(1000)))
    ids = np.sort(random.integers(0, 4, 2))
    values, at = wgmax.max_pool(x, 2, return_indices=True, index_axis=0)
    pads = dict(pads_begin=[1, 1], pads_end=[1, 1])
    return [
        (wgmax.onnx.ReduceMax, [x, np.array([3, 1, -2])], dict(keepdims=0)),
        (wgmax.onnx.ArgMax, [x], dict(axis=2)),
        (wgmax.onnx.MaxPool, [x], dict(kernel_shape=[3, 2], outputs=2)),
        (wgmax.onnx.GlobalMaxPool, [x], {}),
        (wgmax.onnx.MaxUnpool, [values, at, np.array(x.shape)], dict(kernel_shape=[2, 2], strides=[2, 2])),
        (wgmax.openvino.ReduceMax, [x, np.array([2, 0])], {}),
        (wgmax.openvino.SegmentMax, [x, ids, 3], dict(fill_mode="ZERO")),
        (wgmax.openvino.MaxPool, [x], dict(kernel=[3, 3], strides=[2, 2], version=8, **pads)),
        (wgmax.onednn.MaxPool, [x], dict(kernel=[3, 3], strides=[2, 2], data_format="NCX", **pads)),
    ][random.integers(9)]


def compared(random):
    x = random_array(random.choice(DTYPES), sizes(random, random.integers(5)), 3, special=False)
    y = x.copy()
    if y.size and random.random() < 0.5:
        y.reshape(-1)[random.integers(y.size)] = 1
    found = lambda a, b: np.array([wgmax.compare(a, b).differing])
    return found, [x, y], {}


CASES = [reductions, pools, segments, gradients, nodes, compared]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_arrays(case, device):
    for seed in range(1000 if device == "cpu" else 40):
        random = np.random.default_rng(seed)
        function, args, options = case(random)
        views = [
            # Axes and indices must be different, so none is repeated.
            laid_out(arg, random, case not in (gradients, nodes) or arg.dtype.kind not in "iu")
            if isinstance(arg, np.ndarray)
            else arg
            for arg in args
        ]
        copies = [copied(view) if isinstance(view, np.ndarray) else view for view in views]
        on = {} if case is compared else dict(device=device)
        expected = function(*copies, **options)
        found = function(*views, **options, **on)
        where = f"case {seed}: {function}, {[getattr(view, 'strides', view) for view in views]}"
        check(found, expected, where)
        # The same of tensors; one of them is enough for all to go to its device.
        some = [isinstance(view, np.ndarray) and random.random() < 0.7 for view in views]
        if function is wgmax.max_unpool or any(some):
            some[0] = True
            views = [on_device(view, device, random) if one else view for view, one in zip(views, some)]
            check(function(*views, **options), expected, where)


def on_device(x, device, random):
    """A tensor of these elements, perhaps as a view of one that has them in another order."""
    if random.random() < 0.5:
        return wgmax.Tensor(x, device)
    steps = tuple(slice(None, None, int(random.choice([1, -1]))) for _ in range(x.ndim))
    axes = random.permutation(x.ndim)
    other = wgmax.Tensor(x[steps].transpose(np.argsort(axes)), device)
    return other.transpose(axes.tolist())[steps] if x.ndim else other


def check(found, expected, where):
    both = zip(*[each if isinstance(each, tuple) else (each,) for each in (found, expected)], strict=True)
    for a, b in both:
        a, b = (np.asarray(each.numpy() if isinstance(each, wgmax.Tensor) else each) for each in (a, b))
        assert a.shape == b.shape and a.dtype == b.dtype, where
        assert a.tobytes() == b.tobytes(), where


def test_numpy_agrees():
    """The views against numpy itself, on types that have no zeros of two signs."""
    for seed in range(500):
        random = np.random.default_rng(seed)
        dtype = np.dtype(random.choice(["i1", "u2", "i4", "u8", "?"]))
        x = random_array(dtype, tuple(random.integers(1, 5, random.integers(5))), seed)
        view = laid_out(x, random)
        for axis in [None, *range(view.ndim)]:
            assert_same(np.asarray(wgmax.reduce_max(view, axis)), np.asarray(copied(np.max(view, axis))))
            assert_same(np.asarray(wgmax.arg_max(view, axis)), np.asarray(np.argmax(view, axis)))
        assert_same(np.asarray(wgmax.reduce_max(view, ())), copied(view))
        assert_same(wgmax.Tensor(view).numpy(), copied(view))


def test_reversed_arrays():
    x = np.array([3.0, 1.0, 2.0])
    m = np.arange(12.0).reshape(3, 4)
    assert wgmax.arg_max(x[::-1]) == 2
    assert wgmax.reduce_max(x[::-1], ()).tolist() == [2, 1, 3]
    assert wgmax.reduce_max(m[1, ::-1], ()).tolist() == [7, 6, 5, 4]
    assert wgmax.reduce_max(np.arange(8)[6:2:-1], ()).tolist() == [6, 5, 4, 3]
    assert wgmax.segment_max(x[::-1], [0, 0, 1]).tolist() == [2, 3]
    assert wgmax.segment_max(x, np.array([1, 0, 0])[::-1]).tolist() == [3, 2]
    found = wgmax.reduce_max_backward(x[::-1], np.float64(5))
    assert found.tolist() == [0, 0, 5]


def test_views_of_dask_arrays():
    da = pytest.importorskip("dask.array")
    x = np.arange(24).reshape(4, 6)
    for view in [x[::-1], x[:, ::-2], x.T, x[1:, ::-1].T]:
        parts = da.from_array(view, chunks=2)
        assert_same(wgmax.dask.reduce_max(parts, 1).compute(), view.max(1))
        ids = np.arange(len(view))[::-1]
        assert_same(wgmax.dask.segment_max(parts, ids, len(view)).compute(), copied(view[::-1]))
